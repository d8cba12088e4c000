// From a compiled module to the runtime's launch plan. The runtime knows nothing of the IR: this
// is where the two meet.
#pragma once

#include "codegen/opencl/module.h"
#include "runtime/launch_plan.h"

namespace texloom::package {

// The symbols of a program: those that sizes depend on, the symbols of its plan, and the others,
// its scalars; both in the order of the program.
struct PlanSymbols {
  ir::Exprs sizes, scalars;
};
PlanSymbols plan_symbols(const ir::Program& program);

// Plain data: the module may go afterwards.
runtime::LaunchPlan make_launch_plan(const codegen::opencl::CompiledModule& module);

// What the runtime is told of a kernel's parameter.
hal::KernelParam kernel_param(const ir::KernelParam& param);

// The format of a texture whose elements are of this type; is_texel_type(type) holds.
hal::TexelFormat texel_format(ir::Type type);

}  // namespace texloom::package
