#include "runtime/drivers/opencl/platform/quirks.h"

#include <algorithm>
#include <string>

namespace texloom::hal::opencl {
namespace {

// Each pattern is a substring of a text that the device reports; an empty pattern matches every
// device.
struct QuirkRow {
  std::string_view platform;
  std::string_view vendor;
  std::string_view name;
  std::string_view quirk;
  std::string_view reason;
};

// Each row has a test in tests/runtime/drivers/opencl/.
constexpr QuirkRow kQuirks[] = {
    {"", "NVIDIA", "", kUnderstatedWorkgroupLimit,
     "the driver reports a limit of 256 for a kernel that requires 512 work items, yet runs it "
     "with 512: the limit is not applied to kernels that require a size"},
    {"", "NVIDIA", "", kUndescribableKernels,
     "with -cl-kernel-arg-info the driver cannot assemble the PTX of a kernel without arguments: "
     "a program that fails to build with that option is built again without it"},
    {"", "NVIDIA", "", kWholeLastRow,
     "clEnqueueCopyBufferRect returns CL_INVALID_VALUE if a buffer ends with the last row of a "
     "rectangle whose pitch is wider than its rows: that row is copied separately"},
    {"", "NVIDIA", "", kSlowOverlappingParts,
     "each launch visits the sub-buffers that overlap those of its arguments, which took up to "
     "0.2 ms in a workspace with 88 of them: kernels get addresses in shared virtual memory"},
    {"Portable Computing Language", "", "", kCompilesAtFirstRun,
     "clBuildProgram only parses a kernel, and its first launch compiles it for as long as that "
     "takes: waits for first launches are reported as compilation"},
    {"Portable Computing Language", "", "", kSlowBuiltinHeader,
     "clBuildProgram parses 18,000 lines of declarations, which takes 0.15 s: programs are built "
     "with declarations of the built-in functions that they call, and with all of them otherwise"},
    {"Oclgrind", "", "", kOneBuildAtATime,
     "clBuildProgram on several threads breaks the compiler's modules: programs are built one "
     "after the other"},
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
