// Lists OpenCL devices that do not behave as they report, with this driver's workarounds.
#pragma once

#include <string_view>

#include "runtime/hal/device_info.h"

namespace texloom::hal::opencl {

// CL_KERNEL_WORK_GROUP_SIZE may be less than the size that the kernel requires and can run with.
inline constexpr std::string_view kUnderstatedWorkgroupLimit = "understated-workgroup-limit";
// The compiler rejects kernels without arguments if it must describe arguments.
inline constexpr std::string_view kUndescribableKernels = "undescribable-kernels";
// A rectangle of a buffer must include the gap after its last row.
inline constexpr std::string_view kWholeLastRow = "whole-last-row";
// Building a program is quick, and the first run of each kernel compiles it.
inline constexpr std::string_view kCompilesAtFirstRun = "compiles-at-first-run";

// The time of a launch grows with the number of parts of buffers that overlap its arguments.
inline constexpr std::string_view kSlowOverlappingParts = "slow-overlapping-parts";

// The compiler is not thread safe.
inline constexpr std::string_view kOneBuildAtATime = "one-build-at-a-time";

// Each build parses the declarations of all built-in functions, which takes most of its time.
inline constexpr std::string_view kSlowBuiltinHeader = "slow-builtin-header";

// Appends the entries that match the device's platform, vendor and name to info.quirks.
void add_quirks(DeviceInfo& info);

bool has_quirk(const DeviceInfo& info, std::string_view name);

}  // namespace texloom::hal::opencl
