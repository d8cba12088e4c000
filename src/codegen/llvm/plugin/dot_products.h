// Dot products of the integers of words (ir/intrinsics.def), by the instructions of a processor.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/Target/TargetMachine.h>

#include "ir/expr.h"

namespace texloom::codegen::native {

// The instructions for dot products that a processor has. All that are used are exact: sums wrap.
// vpmaddubsw, whose sums saturate, is not used.
struct DotUnit {
  enum class Kind : unsigned char {
    None,  // shifts and products, of which LLVM makes vectors
    X86,   // vpdpbusd and vpdpwssd (VNNI), otherwise pmaddwd of pairs of 16-bit integers
    Arm,   // sdot and udot, usdot with i8mm
  };
  Kind kind = Kind::None;
  int lanes = 4;           // 32-bit lanes of a register
  bool has_vnni = false;   // on x86
  bool has_mixed = false;  // on Arm: usdot

  static DotUnit of(const llvm::TargetMachine& machine);
};

// Returns `sum` plus the dot products of the words of `factors`, two scalars or vectors of int32.
llvm::Value* emit_dot(llvm::IRBuilder<>& builder, const DotUnit& unit, const ir::Dot& dot,
                      llvm::Value* sum, llvm::ArrayRef<llvm::Value*> factors);

}  // namespace texloom::codegen::native
