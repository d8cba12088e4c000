// Checks a call of a plan against the operator that it names.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/custom/operator.h"
#include "runtime/plan/plan.h"
#include "support/status.h"

namespace texloom::runtime {

// Checks the count, access, storage and layout of the arguments, and that no two of them are the
// same tensor if one is written. Fails with InvalidArgument, and names the argument.
Status check_arguments(const OperatorInfo& info, const OperatorCall& call, const CallStep& step,
                       const std::vector<TensorSpec>& tensors);

// Returns the number of the first variant with the tensors' element types, or 0 if the operator has
// no variants. Fails with InvalidArgument, and lists the variants, if none has these types.
Result<std::size_t> find_variant(const OperatorInfo& info, const std::vector<TensorSpec>& tensors);

// Fails with Unimplemented if the operator does not work with the device's driver.
Status check_driver(const OperatorInfo& info, const hal::DeviceInfo& device);

}  // namespace texloom::runtime
