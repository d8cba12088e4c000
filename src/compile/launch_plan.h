// Converts a compiled module to the runtime's launch plan, because the runtime does not know the
// IR.
#pragma once

#include <string>

#include "compile/module.h"
#include "runtime/plan/plan.h"

namespace texloom::compile {

// The plan is plain data that does not refer to the module.
runtime::LaunchPlan make_launch_plan(const CompiledModule& module);

// Converts a kernel's parameter to the runtime's description.
hal::KernelParam kernel_param(const ir::KernelParam& param);

// The positions of a layout's elements, as the runtime describes them.
runtime::TensorLayout tensor_layout(const ir::Layout& layout);

// A tensor whose extents are numbers, in memory of this layout, padding included. Arrays that are
// passed for it have this layout, too. `exact`: a texture must be an image of exactly its extent
// (ir/buffer.h).
runtime::TensorSpec tensor_spec(const std::string& name, ir::Type type, const ir::Layout& layout,
                                bool exact = false);

// A tensor whose shape depends on symbols: a row-major buffer, or a texture of an open layout.
runtime::TensorSpec open_tensor_spec(const std::string& name, ir::Type type,
                                     std::vector<runtime::Size> shape, const ir::Layout& layout,
                                     bool exact = false);

// The runtime's name for the elements of this type, which is a scalar.
hal::ElementType element_type(ir::Type type);

// The format of a texture whose elements are of this type. Requires is_texel_type(type).
hal::TexelFormat texel_format(ir::Type type);

}  // namespace texloom::compile
