#include "runtime/drivers/opencl/platform/quirks.h"

#include <algorithm>
#include <string>

namespace texloom::hal::opencl {
namespace {

// Each pattern is a part of the text that the device has there; an empty one fits every device.
struct QuirkRow {
  std::string_view platform;
  std::string_view vendor;
  std::string_view name;
  std::string_view quirk;
  std::string_view reason;
};

// A row has a test in tests/runtime/drivers/opencl/.
constexpr QuirkRow kQuirks[] = {
    {"", "NVIDIA", "", kUnderstatedWorkgroupLimit,
     "the driver says 256 for a kernel that requires 512 work items, and runs it with those: the "
     "limit is not held against kernels that require a size"},
    {"", "NVIDIA", "", kUndescribableKernels,
     "with -cl-kernel-arg-info its own PTX of a kernel without arguments does not assemble: what "
     "fails with that option is built again without it"},
    {"", "NVIDIA", "", kWholeLastRow,
     "clEnqueueCopyBufferRect gives CL_INVALID_VALUE where a buffer ends with the last row of a "
     "rectangle whose pitch is wider than its rows: that row is copied by itself"},
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

void add_quirks(DeviceInfo& info) {
  for (const QuirkRow& row : kQuirks) {
    if (contains(info.platform, row.platform) && contains(info.vendor, row.vendor) &&
        contains(info.name, row.name))
      info.quirks.push_back({std::string(row.quirk), std::string(row.reason)});
  }
}

bool has_quirk(const DeviceInfo& info, std::string_view name) {
  return std::ranges::any_of(info.quirks, [&](const Quirk& quirk) { return quirk.name == name; });
}

}  // namespace texloom::hal::opencl
