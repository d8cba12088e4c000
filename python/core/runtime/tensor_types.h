// Element types and shapes of tensors as Python has them: lists of (dtype, shape).
#pragma once

#include <span>
#include <vector>

#include "core/handles.h"
#include "runtime/custom/operator.h"
#include "support/status.h"

namespace texloom::python {

// Reads a list or a tuple of pairs; InvalidArgument for any other value. The message is a
// predicate, such as "has an int in place of a shape"; the caller adds the subject.
Result<std::vector<runtime::TensorType>> types_of(const py::object& given);

py::list rows_of(std::span<const runtime::TensorType> types);

}  // namespace texloom::python
