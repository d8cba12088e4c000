// Derives a target from a device.
#pragma once

#include "ir/target/target.h"
#include "runtime/hal/device_info.h"

namespace texloom::compile {

// The preset of the device's family, or else the plain target of the first backend for the device's
// class whose code its driver prepares, with the limits and features that the device reports.
ir::Target target_of(const hal::DeviceInfo& info);

}  // namespace texloom::compile
