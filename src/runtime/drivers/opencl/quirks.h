// Where OpenCL devices do other than they say, and what this driver does about it: one table.
#pragma once

#include <string_view>

#include "runtime/hal/device_info.h"

namespace texloom::hal::opencl {

// CL_KERNEL_WORK_GROUP_SIZE may be less than a size that the kernel requires and runs with.
inline constexpr std::string_view kUnderstatedWorkgroupLimit = "understated-workgroup-limit";
// The compiler does not take kernels without arguments when it is asked to describe arguments.
inline constexpr std::string_view kUndescribableKernels = "undescribable-kernels";
// A rectangle of a buffer has to be followed by the gap behind its last row.
inline constexpr std::string_view kWholeLastRow = "whole-last-row";

// Appends to info.quirks what the table has for the device, by its platform, vendor and name.
void add_quirks(DeviceInfo& info);

bool has_quirk(const DeviceInfo& info, std::string_view name);

}  // namespace texloom::hal::opencl
