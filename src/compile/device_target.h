// Derives a target from a device.
#pragma once

#include "ir/target/target.h"
#include "runtime/hal/device_info.h"

namespace texloom::compile {

// A target for the first backend that serves the device's class and whose code the device's driver
// prepares: the preset of the device's family, or else the plain target. Its limits and features
// are those that the device reports.
ir::Target target_of(const hal::DeviceInfo& info);

}  // namespace texloom::compile
