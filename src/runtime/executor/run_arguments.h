// Checks the arguments and scalars of a run, and cuts memory to the sizes of tensors.
#pragma once

#include <span>
#include <vector>

#include "runtime/hal/binding.h"
#include "runtime/plan/plan.h"
#include "support/status.h"

namespace texloom::runtime {

// InvalidArgument, naming the argument, unless each binding has room for its tensor. `plan` has no
// symbols; there are as many bindings as arguments.
Status check_arguments(const LaunchPlan& plan, std::span<const hal::Binding> bindings);

// InvalidArgument for a wrong count or type.
Status check_scalars(std::span<const ScalarSpec> wanted, std::span<const hal::Constant> given);

// Cuts each buffer to the size of its tensor, for kernels that touch everything that is bound.
// Tensors of unknown size stay as they are.
Result<std::vector<hal::Binding>> cut_to_size(std::span<const TensorSpec> tensors,
                                              std::span<const hal::Binding> bindings);

}  // namespace texloom::runtime
