// A table of OpenCL devices that do not behave as they say, and of this driver's workarounds.
#pragma once

#include <string_view>

#include "runtime/hal/device_info.h"

namespace texloom::hal::opencl {

// CL_KERNEL_WORK_GROUP_SIZE may be less than a size that the kernel requires and runs with.
inline constexpr std::string_view kUnderstatedWorkgroupLimit = "understated-workgroup-limit";
// The compiler rejects kernels without arguments when it is asked to describe arguments.
inline constexpr std::string_view kUndescribableKernels = "undescribable-kernels";
// A rectangle of a buffer must include the gap after its last row.
inline constexpr std::string_view kWholeLastRow = "whole-last-row";

// Appends to info.quirks the entries for the device, by its platform, vendor and name.
void add_quirks(DeviceInfo& info);

bool has_quirk(const DeviceInfo& info, std::string_view name);

}  // namespace texloom::hal::opencl
