// What Python is told about devices: plain dictionaries.
#pragma once

#include "handles.h"
#include "runtime/hal/device.h"

namespace texloom::python {

py::dict info_dict(const hal::DeviceInfo& info);

// Bytes and objects by kind of memory, and what the workspace pool holds and has done.
py::dict memory_dict(hal::Device& device);

}  // namespace texloom::python
