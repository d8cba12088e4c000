// Lists OpenCL devices on which a kernel may use several views over one buffer, and write some.
#pragma once

#include "runtime/hal/device_info.h"

namespace texloom::hal::opencl {

// Whether the device is in the table. In OpenCL, a kernel that writes an image over a buffer and
// uses other parts of that buffer has undefined results (cl_khr_image2d_from_buffer). So the table
// has only devices on which the conformance suite has shown the right values (DisjointViews).
bool has_disjoint_views(const DeviceInfo& info);

}  // namespace texloom::hal::opencl
