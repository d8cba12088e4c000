// Makes arguments on a device for calls that pass NumPy arrays or leave the outputs out.
#pragma once

#include <span>
#include <vector>

#include "core/function/function.h"
#include "core/handles.h"

namespace texloom::python {

// An argument of a call.
struct CallArgument {
  py::object passed;  // what kernels get: an array of a device, or a number
  py::object given;   // what the caller gives; null for an output that is left out
  const ir::BufferNode* param = nullptr;  // null for a number
  // Whether kernels read and write the array. An array that is only written is an output.
  bool is_read = false, is_written = false;
};

// All arguments of the call. New arrays replace NumPy arrays and outputs that are left out. They
// are on the device of the first array that is on a device. If no array is on a device, the new
// arrays are on the first device of the target's driver. Their values are undefined;
// copy_to_device() copies the elements of the NumPy arrays to them.
//
// Fails like CallSignature for a wrong number of arguments or an array that does not match its
// parameter. Fails with WrongShape if the given arrays do not determine the shape of an output.
std::vector<CallArgument> completed_call(const PyFunction& function, const py::args& given);

// Copies the elements of NumPy arrays to the arrays that replace them on the device.
void copy_to_device(std::span<const CallArgument> arguments);

}  // namespace texloom::python
