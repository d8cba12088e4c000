// Runs of compiled functions whose arguments are all given: numbers, and arrays of one device.
#pragma once

#include <optional>

#include "core/function/function.h"
#include "core/handles.h"

namespace texloom::python {

// Submits several runs, with no other work in between, and does not wait. The first call on a
// device compiles the kernels for it. Fails with BadValue if `times` is not positive.
// Function.__call__ documents the errors for wrong arguments.
void enqueue(PyFunction& f, int times, const py::args& args);

// Builds the kernels for a device, as the first call there would, and runs nothing. A device that
// compiles kernels when they first run compiles them later. The errors are those of building.
void build_on(PyFunction& f, const PyDevice& device);

// The operations of a run with these arguments; nullopt if they are not known.
std::optional<double> operations(const PyFunction& f, const py::args& args);

}  // namespace texloom::python
