// Gives outputs the shapes of inputs.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/custom/operator.h"
#include "support/status.h"

namespace texloom::runtime {

// Maps outputs (arguments that are only written) to arguments whose types they have. Other outputs
// have the shape of the first argument that is read.
using LikeInputs = std::map<std::string, std::string>;

// InvalidArgument unless each key is an argument that is only written, and each value an argument
// that is read.
Status check_like(const OperatorInfo& info, const LikeInputs& like);

// The result of CustomOperator::shapes. `like` has passed the check.
Result<std::vector<TensorType>> shapes_like(const OperatorInfo& info, const LikeInputs& like,
                                            std::span<const TensorType> inputs);

}  // namespace texloom::runtime
