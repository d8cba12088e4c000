// Declarations of custom operators from Python; texloom.custom has checked their keys and words.
#pragma once

#include "core/handles.h"
#include "runtime/custom/operator.h"

namespace texloom::python {

// The keys are name, version, arguments, attributes and dtypes. Fails with UnknownType.
runtime::OperatorInfo info_of(const py::dict& declaration);

// The words of declarations, by the property that they describe.
py::dict operator_words();

}  // namespace texloom::python
