// Describes a compiled program: the code of its kernels, and all information that a launch plan and
// a caller need. Every backend produces this form.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codegen/compiled_code.h"
#include "compile/operation_count.h"
#include "compile/plan_symbols.h"
#include "ir/layout/layout.h"
#include "ir/program.h"
#include "ir/target/target.h"
#include "lower/lowering.h"
#include "runtime/package/needs.h"
#include "support/diagnostic.h"

namespace texloom::compile {

struct CompiledKernel {
  std::string name;                       // the name of the kernel's function in the code
  std::array<ir::Expr, 3> grid;           // the number of blocks along each axis
  std::array<int64_t, 3> block{1, 1, 1};  // threads of a block
  std::vector<ir::KernelParam> params;    // the arguments, in order
  std::shared_ptr<const codegen::CompiledCode> code;  // may contain other kernels, too
};

struct CompiledModule {
  ir::Target target;
  ir::Program program;                  // at stage Legalized: its body is the launch plan
  std::vector<CompiledKernel> kernels;  // in the order of program.kernels
  PlanSymbols symbols;                  // the symbols of `program`
  // Optional features of devices that the kernels use. The target may have further features.
  runtime::VariantNeeds features;

  // The arguments of a call. Empty in a module that generate() makes, since a program of kernels
  // does not specify them.
  std::vector<ir::Layout> array_layouts;                // one for each tensor, in order
  std::vector<ir::Access> array_accesses;               // one for each tensor (array_accesses.h)
  std::vector<lower::SymbolArgument> symbol_arguments;  // the numbers among the arguments
  // In a checked build, the indices that kernels report in the last parameter of `program`, which
  // the caller does not pass (bad_indices.h).
  std::vector<lower::CheckedIndex> checks;

  // The operations that the schedule computes, over symbols of the program; nullopt if unknown.
  std::optional<OperationCount> operations;

  std::vector<Diagnostic> warnings;
};

}  // namespace texloom::compile
