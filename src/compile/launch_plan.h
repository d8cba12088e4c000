// From a compiled module to the runtime's launch plan. The runtime does not know the IR, so the two
// meet here.
#pragma once

#include "compile/module.h"
#include "runtime/launch_plan.h"

namespace texloom::compile {

// Plain data that does not refer to the module.
runtime::LaunchPlan make_launch_plan(const CompiledModule& module);

// A kernel's parameter as the runtime describes it.
hal::KernelParam kernel_param(const ir::KernelParam& param);

// The format of a texture whose elements are of this type. Requires is_texel_type(type).
hal::TexelFormat texel_format(ir::Type type);

}  // namespace texloom::compile
