// Lists OpenCL devices on which a kernel may use several views over one buffer, and write some.
#pragma once

#include "runtime/hal/device_info.h"

namespace texloom::hal::opencl {

// Whether the device is in the table. OpenCL leaves it undefined what a kernel does that writes an
// image over a buffer and uses the rest of that buffer (cl_khr_image2d_from_buffer), so only
// devices are listed on which the conformance suite has shown the right values (DisjointViews).
bool has_disjoint_views(const DeviceInfo& info);

}  // namespace texloom::hal::opencl
