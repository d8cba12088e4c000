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
#include "runtime/plan_executor.h"

namespace texloom::python {

struct PyProgram {
  std::shared_ptr<const ir::Program> program;
};

// What build() returns. Executors are made for each device at the first call with its arrays.
struct CompiledFunction {
  codegen::opencl::CompiledModule module;
  std::vector<ir::Layout> array_layouts;  // of the arguments
  ir::Target target;
  std::mutex mutex;
  std::map<const hal::Device*, std::shared_ptr<runtime::PlanExecutor>> executors;
};

// What lower() and build() are given: arguments, buffers of `binds`, target text.
lower::Lowering make_lowering(const SharedSchedule& schedule, const std::vector<PyTensor>& args,
                              const py::dict& binds, const std::string& name,
                              const std::string& target);

// Lowers, and shows the warnings to the user.
lower::Lowering lowered(lower::Lowering lowering);

}  // namespace texloom::python
