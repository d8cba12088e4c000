#include "compile/device_target.h"

#include <algorithm>
#include <array>
#include <limits>

#include "codegen/backend.h"
#include "ir/target/presets.h"

namespace texloom::compile {
namespace {

// Keeps the preset's value if the device does not report the limit.
void set(int64_t& limit, uint64_t stated) {
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  if (stated > 0) limit = static_cast<int64_t>(std::min(stated, kMax));
}

void set_limits(ir::KernelLimits& limits, const hal::DeviceLimits& stated) {
  set(limits.max_threads, stated.max_workgroup_size);
  set(limits.max_threads_z, stated.max_workitem_sizes[2]);
  set(limits.max_image_size, std::min(stated.max_image_width, stated.max_image_height));
  set(limits.local_memory_bytes, stated.local_memory_bytes);
  set(limits.max_image_reads, stated.max_read_images);
  set(limits.max_image_writes, stated.max_write_images);
  if (limits.slots) {
    set(limits.slots->textures, stated.max_read_images);
    set(limits.slots->buffers, stated.max_buffers);
  }
}

// A device that is neither a CPU nor a GPU has no preset.
ir::Target preset_of(const hal::DeviceInfo& info, ir::DeviceClass device_class) {
  const ir::TargetKind kind = codegen::backend_for(device_class, info.formats).kind;
  if (info.type != hal::DeviceType::Cpu && info.type != hal::DeviceType::Gpu)
    return ir::recognized_target(kind, device_class, {});
  const std::array<std::string_view, 3> names = {info.platform, info.name, info.vendor};
  return ir::recognized_target(kind, device_class, names);
}

// Registers of other kinds are as good as unknown ones.
ir::VectorRegisters vectors_of(const hal::DeviceInfo& info, ir::TargetKind kind) {
  const ir::VectorRegisters stated{info.limits.vector_registers, info.limits.vector_register_bytes};
  const bool is_known =
      std::ranges::find(ir::kVectorRegisters, stated) != ir::kVectorRegisters.end();
  return kind == ir::TargetKind::OpenCL && is_known ? stated : ir::VectorRegisters{};
}

ir::MatrixUnit matrix_unit_of(const hal::DeviceInfo& info, ir::TargetKind kind) {
  if (!info.features.matrix_fragments) return ir::MatrixUnit::None;
  return kind == ir::TargetKind::Metal ? ir::MatrixUnit::Simdgroup : ir::MatrixUnit::MmaSync;
}

}  // namespace

ir::Target target_of(const hal::DeviceInfo& info) {
  const auto device_class =
      info.type == hal::DeviceType::Cpu ? ir::DeviceClass::Cpu : ir::DeviceClass::Gpu;
  ir::Target target = preset_of(info, device_class);
  set_limits(target.limits, info.limits);
  target.features = {.images = info.features.images,
                     .float64 = info.features.float64,
                     .float16_arithmetic = info.features.float16_arithmetic,
                     .argument_buffers = info.features.argument_buffers,
                     .matrix_unit = matrix_unit_of(info, target.kind),
                     .device_fence = target.features.device_fence};
  target.device_class = device_class;
  target.quirks = ir::quirks_of(device_class);
  target.vectors = vectors_of(info, target.kind);
  return target;
}

}  // namespace texloom::compile
