// The operations of a computation, in the order in which they can be computed.
#pragma once

#include <vector>

#include "schedule/operation/operation.h"

namespace texloom::schedule {

// These operations and all that they read: inputs before readers, each once.
std::vector<Op> operations_of(const std::vector<Op>& outputs);
// The operations that compute these tensors, and all that they read.
std::vector<Op> operations_of(const std::vector<ir::Tensor>& outputs);

}  // namespace texloom::schedule
