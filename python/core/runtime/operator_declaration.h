// Declarations of custom operators from Python; texloom.custom has checked their keys and words.
#pragma once

#include "core/handles.h"
#include "runtime/custom/operator.h"

namespace texloom::python {

// Reads a declaration with the keys name, version, arguments, attributes and dtypes. Fails with
// UnknownType for a wrong dtype.
runtime::OperatorInfo info_of(const py::dict& declaration);

// The words that a declaration may use for "access", "storage" and "type", by these keys.
py::dict operator_words();

}  // namespace texloom::python
