// Custom operators as Python objects.
#pragma once

#include <memory>

#include "core/handles.h"
#include "runtime/custom/operator.h"

namespace texloom::python {

// The operator of a `_core.CustomOperator`. Throws a Python TypeError for anything else.
std::shared_ptr<const runtime::CustomOperator> operator_of(const py::handle& value);

}  // namespace texloom::python
