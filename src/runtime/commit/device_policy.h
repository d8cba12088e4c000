// The commit policy that suits a device, unless the user gives another one.
#pragma once

#include "runtime/commit/policy.h"
#include "runtime/hal/device_info.h"

namespace texloom::runtime {

// A GPU starts when a run's first few launches are submitted, while the host records the remaining
// ones. Other devices are the host's own processors, so an early start gains nothing.
CommitPolicy commit_policy_for(const hal::DeviceInfo& device);

}  // namespace texloom::runtime
