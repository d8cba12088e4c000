// What OpenCL devices there are, and what each of them says of itself.
#pragma once

#include <memory>
#include <vector>

#include "runtime/drivers/opencl/api.h"
#include "runtime/hal/device_info.h"
#include "support/status.h"

namespace texloom::hal::opencl {

struct PlatformDevice {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  std::shared_ptr<const DeviceInfo> info;
};

// The devices of all platforms: GPUs, then accelerators, then CPUs, else in the loader's order. A
// device without images is listed with that feature off. One that is not available, has no
// compiler, or does not answer is left out. Unavailable, with the reasons, when none remains.
Result<std::vector<PlatformDevice>> find_devices(const Api& api);

}  // namespace texloom::hal::opencl
