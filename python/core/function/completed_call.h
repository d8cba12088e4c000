// Calls that pass NumPy arrays, or that leave the outputs out: their arguments on a device.
#pragma once

#include <span>
#include <vector>

#include "core/function/function.h"
#include "core/handles.h"

namespace texloom::python {

// An argument of a call.
struct CallArgument {
  py::object passed;                      // what the kernels get: an array of a device, or a number
  py::object given;                       // by the call; null for an output that it leaves out
  const ir::BufferNode* param = nullptr;  // null for a number
  bool is_read = false, is_written = false;  // by the kernels; an array that is only written is an
                                             // output
};

// All arguments of the call. In place of NumPy arrays and of outputs that are left out, the kernels
// get new arrays on the device of the first array that is on a device, or on the first device.
// Their values are undefined: see copy_to_device().
//
// Fails with WrongArgumentCount, and for arrays that do not fit, as a call does; with WrongShape if
// the arrays that are given do not determine the shape of an output.
std::vector<CallArgument> completed_call(const PyFunction& function, const py::args& given);

// Gives the arrays on the device the elements of the NumPy arrays that they stand for.
void copy_to_device(std::span<const CallArgument> arguments);

}  // namespace texloom::python
