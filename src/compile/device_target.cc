#include "compile/device_target.h"

#include <algorithm>
#include <array>
#include <limits>

namespace texloom::compile {
namespace {

// Matches a word in the name of the device, the vendor or the platform.
struct Family {
  hal::DeviceType type;
  std::string_view word;
  std::string_view preset;
};
using enum hal::DeviceType;
constexpr std::array kFamilies = {
    Family{Cpu, "Portable Computing Language", "opencl -device=pocl"},
    Family{Gpu, "Adreno", "opencl -device=adreno"},
    Family{Gpu, "Mali", "opencl -device=mali"},
    Family{Gpu, "NVIDIA", "opencl -device=nvidia"},
    Family{Gpu, "Intel", "opencl -device=intel_graphics"},
};

// Metal has devices of Apple and of the makers of GPUs in older Macs.
constexpr std::string_view kMetalOfApple = "metal -device=m1";
constexpr std::string_view kMetalOfOthers = "metal -device=mac-intel";

std::string_view preset_of(const hal::DeviceInfo& info) {
  if (info.driver == "metal") return info.vendor == "Apple" ? kMetalOfApple : kMetalOfOthers;
  for (const Family& family : kFamilies) {
    if (family.type != info.type) continue;
    for (const std::string* name : {&info.platform, &info.name, &info.vendor}) {
      if (name->find(family.word) != std::string::npos) return family.preset;
    }
  }
  return "opencl";
}

// Keeps the preset's value if the device does not report the limit.
void set(int64_t& limit, uint64_t stated) {
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  if (stated > 0) limit = static_cast<int64_t>(std::min(stated, kMax));
}

}  // namespace

ir::Target target_of(const hal::DeviceInfo& info) {
  ir::Target target = ir::parse_target(preset_of(info), {});
  const hal::DeviceLimits& limits = info.limits;
  set(target.limits.max_threads, limits.max_workgroup_size);
  set(target.limits.max_threads_z, limits.max_workitem_sizes[2]);
  set(target.limits.max_image_size, std::min(limits.max_image_width, limits.max_image_height));
  set(target.limits.local_memory_bytes, limits.local_memory_bytes);
  set(target.limits.max_image_reads, limits.max_read_images);
  set(target.limits.max_image_writes, limits.max_write_images);
  target.features.images = info.features.images;
  target.features.float64 = info.features.float64;
  target.features.float16_arithmetic = info.features.float16_arithmetic;
  if (target.kind == ir::TargetKind::Metal) {
    set(target.limits.max_textures, limits.max_read_images);
    set(target.limits.max_buffers, limits.max_buffers);
    target.features.argument_buffers = info.features.argument_buffers;
  }
  target.quirks = ir::quirks_of(info.type == hal::DeviceType::Cpu);
  return target;
}

}  // namespace texloom::compile
