// The target that a device at hand is.
#pragma once

#include "ir/target.h"
#include "runtime/hal/device_info.h"

namespace texloom::package {

// The preset of the device's family, the plain one where it is of none, with the limits and
// features that the device states.
ir::Target target_of(const hal::DeviceInfo& info);

}  // namespace texloom::package
