// Finds OpenCL devices, and describes each of them.
#pragma once

#include <memory>
#include <vector>

#include "runtime/drivers/opencl/api/api.h"
#include "runtime/hal/device_info.h"
#include "support/status.h"

namespace texloom::hal::opencl {

struct PlatformDevice {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  std::shared_ptr<const DeviceInfo> info;
};

// Returns the devices of all platforms: GPUs, then accelerators, then CPUs, otherwise in the
// loader's order. A device without images is listed with that feature off. A device that is
// unavailable, has no compiler, or does not answer is skipped. Unavailable, with the reasons, if
// none remains.
Result<std::vector<PlatformDevice>> find_devices(const Api& api);

}  // namespace texloom::hal::opencl
