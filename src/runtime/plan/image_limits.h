// Checks the sizes of textures against the limits of a device.
#pragma once

#include "runtime/hal/device_info.h"
#include "runtime/plan/plan.h"
#include "support/status.h"

namespace texloom::runtime {

// `tensor` has a known shape. Ok if it is in a buffer, or if its image has at most the width and
// the height that the device supports. LimitExceeded names the tensor, its shape and both sizes.
Status check_image(const TensorSpec& tensor, const hal::DeviceLimits& limits);

// Like check_image(), for all arguments and temporaries of a plan without symbols.
Status check_images(const LaunchPlan& plan, const hal::DeviceLimits& limits);

}  // namespace texloom::runtime
