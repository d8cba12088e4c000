// Calls that pass NumPy arrays, or that leave the outputs out.
#pragma once

#include "core/handles.h"
#include "core/runtime/function.h"

namespace texloom::python {

// For each argument of the call: what the kernels get for it, what the call gives for it (None for
// an output that it leaves out), and what the kernels do with it: "read", "write", "read_write", or
// "" for a number. In place of NumPy arrays and of outputs, the kernels get new arrays on the
// device of the first array that is on a device, or on the first device. Their values are
// undefined.
//
// Fails with WrongArgumentCount, and for arrays that do not fit, as a call does; with WrongShape if
// the arrays that are given do not determine the shape of an output.
py::list completed_call(const PyFunction& function, const py::args& given);

}  // namespace texloom::python
