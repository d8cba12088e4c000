#include "runtime/drivers/opencl/platform/disjoint_views.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace texloom::hal::opencl {
namespace {

// Each pattern is a substring of a text that the device reports.
struct Row {
  std::string_view platform;
  DeviceType type;
  std::string_view reason;
};

constexpr Row kRows[] = {
    {"Intel(R) OpenCL", DeviceType::Cpu,
     "an image over a buffer is the buffer's memory, and kernels access it like any other memory"},
};

}  // namespace

bool has_disjoint_views(const DeviceInfo& info) {
  return info.features.texture_views && std::ranges::any_of(kRows, [&](const Row& row) {
           return info.platform.find(row.platform) != std::string::npos && info.type == row.type;
         });
}

}  // namespace texloom::hal::opencl
