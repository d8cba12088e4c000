// Calls with NumPy arrays, or without their outputs.
#pragma once

#include "core/function/function.h"
#include "core/handles.h"

namespace texloom::python {

// Runs the function once, and returns the outputs that the call leaves out: None, an array, or a
// tuple of arrays. Unless the call passes an array of a device, the call waits for the outputs and
// returns NumPy arrays. Elements that the function does not compute are undefined.
//
// NumPy arrays are copied to the device, so that they may share memory with one another and with
// the outputs: the outputs are written after all inputs have been read. A NumPy array that is given
// for an output keeps its elements where the function computes none.
//
// Fails like completed_call() and enqueue(). Fails with ReadOnlyArray for a read-only output, and
// with AliasedArguments for an output with overlapping elements or two outputs that share memory.
py::object call_with_numpy(PyFunction& function, const py::args& args);

}  // namespace texloom::python
