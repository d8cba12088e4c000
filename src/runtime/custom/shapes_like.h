// Shapes of outputs that are those of inputs.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/custom/operator.h"
#include "support/status.h"

namespace texloom::runtime {

// By argument that is written and not read: the argument whose type it has. Other outputs have the
// shape of the first argument that is read.
using LikeInputs = std::map<std::string, std::string>;

// InvalidArgument for names of other arguments.
Status check_like(const OperatorInfo& info, const LikeInputs& like);

// The result of CustomOperator::shapes. `like` has passed the check.
Result<std::vector<TensorType>> shapes_like(const OperatorInfo& info, const LikeInputs& like,
                                            std::span<const TensorType> inputs);

}  // namespace texloom::runtime
