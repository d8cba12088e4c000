// Compiled programs: from lowering to a launch plan that the runtime runs.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "codegen/opencl/module.h"
#include "handles.h"
#include "ir/target.h"
#include "lower/lowering.h"
#include "package/launch_plan.h"
#include "runtime/plan_executor.h"

namespace texloom::python {

// A program of any stage: of stage te a schedule with its arguments.
struct PyProgram {
  std::shared_ptr<const lower::Lowering> state;
  // Of a program of kernels, what it was lowered from, for other targets; null where that is not
  // known.
  std::shared_ptr<const lower::Lowering> scheduled = {};
};

// What build() returns. Executors are made for each device at the first call with its arrays.
struct CompiledFunction {
  codegen::opencl::CompiledModule module;
  std::vector<ir::Layout> array_layouts;                // of the arguments
  std::vector<lower::SymbolArgument> symbol_arguments;  // passed by value between them
  package::PlanSymbols symbols;                         // of the program
  std::vector<lower::CheckedIndex> checks;  // of the last parameter; empty when there is none
  ir::Target target;
  std::mutex mutex;
  std::map<const hal::Device*, std::shared_ptr<runtime::PlanExecutor>> executors;
};

// Lowers a program, for its target or for a checked one, and shows the warnings to the user. Throws
// a Python ValueError for one that is neither of stage te nor, unless checked, flattened.
lower::Lowering with_kernels(const PyProgram& program, bool checked = false);

}  // namespace texloom::python
