// Custom operators as Python objects.
#pragma once

#include <memory>
#include <vector>

#include "core/handles.h"
#include "runtime/custom/operator.h"

namespace texloom::python {

// The operator of a `_core.CustomOperator`. Throws a Python TypeError for anything else.
std::shared_ptr<const runtime::CustomOperator> operator_of(const py::handle& value);

// The attributes of a call, by name. Fails with BadArgument for a value that is neither a number
// (of Python or NumPy) nor a string.
std::vector<runtime::Attribute> attributes_of(const py::dict& given);

}  // namespace texloom::python
