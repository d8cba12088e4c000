// Describes devices as Python dictionaries.
#pragma once

#include "core/handles.h"
#include "runtime/hal/device.h"

namespace texloom::python {

py::dict info_dict(const hal::DeviceInfo& info);

// The bytes and objects in each kind of memory, and the statistics of the workspace pool.
py::dict memory_dict(hal::Device& device);

}  // namespace texloom::python
