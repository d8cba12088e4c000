// The function of a kernel that the driver calls.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include <cstdint>

#include "codegen/llvm/plugin/debug_lines.h"
#include "ir/program.h"

namespace texloom::codegen::native {

inline constexpr uint64_t kArrayAlignment = 64;  // of a function's own arrays, in bytes
inline constexpr uint64_t kArgumentAlignment = 16;

// What the function for one block needs from the function around it.
struct BlockNeeds {
  uint64_t scratch_bytes = 0;
  bool stores_nontemporal = false;
};

// Emits the function that runs blocks [begin, end) of the grid by calls of `run_block`, which takes
// the kernel's arguments, the place of the block along the kernel's axes, and scratch memory.
// LLVM is told what is known of them: the alignment of arrays, and the ranges of numbers.
// Lines of the function are known, without which those of the inlined block would be lost.
void emit_entry(llvm::Module& module, const ir::Kernel& kernel, llvm::Function* run_block,
                const BlockNeeds& needs, DebugLines& lines);

}  // namespace texloom::codegen::native
