#include "ir/target/target.h"

#include <limits>

#include "support/check.h"

namespace texloom::ir {

std::string_view to_string(DeviceClass device_class) {
  return device_class == DeviceClass::Cpu ? "cpu" : "gpu";
}

Quirks quirks_of(DeviceClass device_class) {
  const bool is_gpu = device_class == DeviceClass::Gpu;
  return {.conditional_barriers = is_gpu, .vector_trigonometry = is_gpu};
}

GpuLimits& Target::gpu() {
  GpuLimits* const found = std::get_if<GpuLimits>(&limits);
  TL_CHECK(found != nullptr);
  return *found;
}

const GpuLimits& Target::gpu() const {
  const GpuLimits* const found = std::get_if<GpuLimits>(&limits);
  TL_CHECK(found != nullptr);
  return *found;
}

ImageLimits Target::images() const {
  constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
  const GpuLimits* const found = std::get_if<GpuLimits>(&limits);
  const int64_t most = found == nullptr ? kNoLimit : found->max_image_size;
  return {most, most};
}

int64_t Target::simd_width() const {
  const GpuLimits* const found = std::get_if<GpuLimits>(&limits);
  return found == nullptr ? 1 : found->simd_width;
}

}  // namespace texloom::ir
