// Finds the system's Metal devices, and describes them.
#pragma once

#include <memory>
#include <vector>

#include "runtime/drivers/metal/api/handle.h"
#include "runtime/hal/device_info.h"
#include "support/status.h"

namespace texloom::hal::metal {

struct SystemDevice {
  Handle<MetalDevice> device;
  std::shared_ptr<const DeviceInfo> info;
};

// At least one device. Unavailable if the system has none.
Result<std::vector<SystemDevice>> find_devices();

}  // namespace texloom::hal::metal
