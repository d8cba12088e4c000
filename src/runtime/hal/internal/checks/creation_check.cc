#include "runtime/hal/internal/checks/creation_check.h"

#include <string_view>
#include <unordered_set>

#include "support/byte_text.h"

namespace texloom::hal {
namespace {

Status check_allocation(const DeviceInfo& device, std::string_view what, std::uint64_t bytes) {
  if (bytes <= device.limits.max_allocation_bytes) return {};
  return make_error(StatusCode::OutOfMemory,
                    "{} of {} is over the limit of device {} for one allocation, {}", what,
                    byte_text(bytes), device.name, byte_text(device.limits.max_allocation_bytes));
}

Status check_workgroup(const DeviceInfo& device, const EntryPoint& entry) {
  const auto& size = entry.workgroup_size;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (size[axis] == 0) return invalid_argument("the workgroup size of axis {} is zero", axis);
    if (size[axis] > device.limits.max_workitem_sizes[axis])
      return invalid_argument(
          "a workgroup has {} work items along axis {}, but device {} allows {}", size[axis], axis,
          device.name, device.limits.max_workitem_sizes[axis]);
  }
  // The product of two 32-bit sizes fits; the third factor is compared by division.
  const std::uint64_t plane = std::uint64_t{size[0]} * size[1];
  if (plane > device.limits.max_workgroup_size / size[2])
    return invalid_argument("a workgroup has {} x {} x {} work items, but device {} allows {}",
                            size[0], size[1], size[2], device.name,
                            device.limits.max_workgroup_size);
  return {};
}

// Required by Metal.
constexpr std::uint64_t kLocalParamUnit = 16;

Status check_texture_param(const DeviceInfo& device, const TextureParam& param) {
  if (!device.features.images)
    return make_error(StatusCode::Unimplemented, "texture \"{}\": device {} has no images",
                      param.name, device.name);
  if (param.access == Access::ReadWrite)
    return make_error(StatusCode::Unimplemented,
                      "texture \"{}\": a kernel may not read and write one texture", param.name);
  if ((param.min_extent.width == 0) != (param.min_extent.height == 0))
    return invalid_argument("texture \"{}\" of at least {}: give both axes, or none", param.name,
                            to_string(param.min_extent));
  return {};
}

// Compares each size with the limit, so that their sum cannot overflow.
Status check_local_param(const DeviceInfo& device, const LocalParam& param) {
  if (param.bytes == 0 || param.bytes % kLocalParamUnit != 0)
    return invalid_argument("local memory \"{}\" of {} bytes: must be a multiple of {}", param.name,
                            param.bytes, kLocalParamUnit);
  if (param.bytes <= device.limits.local_memory_bytes) return {};
  return invalid_argument("local memory \"{}\" has {} bytes, but device {} has {}", param.name,
                          param.bytes, device.name, device.limits.local_memory_bytes);
}

Status check_params(const DeviceInfo& device, const EntryPoint& entry) {
  std::uint64_t read_images = 0;
  std::uint64_t write_images = 0;
  std::uint64_t buffers = 0;
  std::uint64_t constant_bytes = 0;
  std::uint64_t argument_bytes = 0;
  for (const KernelParam& param : entry.params) {
    if (const auto* texture = std::get_if<TextureParam>(&param)) {
      TL_RETURN_IF_ERROR(check_texture_param(device, *texture));
      ++(reads(texture->access) ? read_images : write_images);
    }
    if (std::holds_alternative<BufferParam>(param)) ++buffers;
    if (const auto* local = std::get_if<LocalParam>(&param))
      TL_RETURN_IF_ERROR(check_local_param(device, *local));
    argument_bytes += sizeof(void*);
    if (const auto* constant = std::get_if<ConstantParam>(&param)) {
      const std::uint32_t bytes = byte_size(constant->type);
      if (bytes != 4 && bytes != 8)
        return invalid_argument("constant \"{}\" is {}: only types of 32 and 64 bits are passed",
                                constant->name, to_string(constant->type));
      constant_bytes += bytes;
      argument_bytes += bytes - sizeof(void*);
    }
  }
  const DeviceLimits& limits = device.limits;
  // With argument buffers, the driver itself checks the number of buffers and textures.
  const auto slots = [&](std::uint64_t limit) {
    return device.features.argument_buffers ? kNoLimit64 : limit;
  };
  struct Count {
    std::string_view what;
    std::uint64_t wanted, most;
  };
  for (const Count& count :
       {Count{"reads {} textures", read_images, slots(limits.max_read_images)},
        Count{"writes {} textures", write_images, slots(limits.max_write_images)},
        Count{"takes {} buffers", buffers, slots(limits.max_buffers)},
        Count{"takes {} bytes of constants", constant_bytes, limits.max_constant_bytes},
        Count{"takes {} bytes of arguments", argument_bytes, limits.max_argument_bytes}}) {
    if (count.wanted > count.most)
      return invalid_argument("{}, but device {} allows {}",
                              fmt::format(fmt::runtime(count.what), count.wanted), device.name,
                              count.most);
  }
  const std::uint64_t local = local_bytes(entry.params);
  if (local > limits.local_memory_bytes)
    return invalid_argument("takes {} bytes of local memory, but device {} has {}", local,
                            device.name, limits.local_memory_bytes);
  return {};
}

// A grid may depend only on the workload of a dispatch.
Status check_grid(const EntryPoint& entry) {
  if (!entry.grid) return {};
  for (const Size& groups : *entry.grid) {
    if (!groups.loop_slots().empty())
      return invalid_argument(
          "its grid depends on a loop variable, but may depend only on the workload");
  }
  return {};
}

Status check_memory_kind(const DeviceInfo& device, MemoryKind kind) {
  if (device.memory(kind).available) return {};
  return make_error(StatusCode::Unimplemented, "device {} has no memory of the kind \"{}\"",
                    device.name, to_string(kind));
}

Status check_image(const DeviceInfo& device, const TextureDesc& desc) {
  if (!device.features.images)
    return make_error(StatusCode::Unimplemented, "device {} has no images", device.name);
  if (desc.kind != TextureKind::Image2D)
    return make_error(StatusCode::Unimplemented, "{} cannot be made: only {} can",
                      to_string(desc.kind), to_string(TextureKind::Image2D));
  if (desc.layers != 1)
    return invalid_argument("{} of {} layers: must have 1", to_string(desc.kind), desc.layers);
  const Extent2D extent = desc.extent;
  if (extent.width == 0 || extent.height == 0)
    return invalid_argument("a texture of {}: each extent must be at least 1", to_string(extent));
  const DeviceLimits& limits = device.limits;
  if (extent.width > limits.max_image_width || extent.height > limits.max_image_height)
    return invalid_argument("a texture of {} is over the limit of device {}, {}", to_string(extent),
                            device.name,
                            to_string(Extent2D{limits.max_image_width, limits.max_image_height}));
  return check_allocation(device, "a texture", byte_size(extent, desc.format));
}

}  // namespace

Status check_creation(const DeviceInfo& device, const BufferDesc& desc) {
  if (desc.bytes == 0) return invalid_argument("a buffer of zero bytes: at least 1 is required");
  TL_RETURN_IF_ERROR(check_memory_kind(device, desc.memory));
  return check_allocation(device, "a buffer", desc.bytes);
}

Status check_creation(const DeviceInfo& device, const TextureDesc& desc) {
  TL_RETURN_IF_ERROR(check_memory_kind(device, desc.memory));
  if (desc.memory != MemoryKind::Device)
    return make_error(StatusCode::Unimplemented,
                      "a texture cannot be made of memory of the kind \"{}\": only of \"{}\"",
                      to_string(desc.memory), to_string(MemoryKind::Device));
  return check_image(device, desc);
}

Status check_creation(const DeviceInfo& device, const ImportDesc& desc) {
  if (!device.features.host_import)
    return make_error(StatusCode::Unimplemented, "device {} cannot use memory of the host",
                      device.name);
  const std::uint64_t bytes = desc.memory.size();
  if (desc.memory.data() == nullptr || bytes == 0)
    return invalid_argument("an import of a null pointer or of zero bytes");
  const DeviceLimits& limits = device.limits;
  const auto address = reinterpret_cast<std::uintptr_t>(desc.memory.data());
  if (address % limits.import_address_alignment != 0)
    return invalid_argument(
        "an import from address {:#x}: device {} requires a multiple of {} bytes: allocate aligned "
        "memory (std::aligned_alloc), or copy it into a buffer",
        address, device.name, limits.import_address_alignment);
  if (bytes % limits.import_size_alignment != 0)
    return invalid_argument(
        "an import of {} bytes: device {} requires a multiple of {}: allocate that much, or copy "
        "it into a buffer",
        bytes, device.name, limits.import_size_alignment);
  return check_allocation(device, "an import", bytes);
}

Result<TextureBacking> check_view(const DeviceInfo& device, const std::shared_ptr<Buffer>& buffer,
                                  const TextureViewDesc& desc) {
  TL_RETURN_IF_ERROR(check_image(device, desc.texture));
  if (!device.features.texture_views)
    return make_error(StatusCode::Unimplemented, "device {} has no views over buffers",
                      device.name);
  if (buffer == nullptr) return invalid_argument("view: the buffer is null");
  if (&buffer->device_info() != &device)
    return invalid_argument("view: the buffer belongs to another device ({}, not {})",
                            buffer->device_info().name, device.name);
  if (!allows(buffer->desc().usage, BufferUsage::View))
    return invalid_argument(
        "view: the buffer was made without the usage for views; help: create it with "
        "BufferUsage::View");
  const auto [extent, format] = std::pair(desc.texture.extent, desc.texture.format);
  const std::uint64_t texel = bytes_per_texel(format);
  const std::uint64_t smallest = smallest_view_pitch(device, format, extent.width);
  const std::uint64_t pitch = desc.row_pitch == 0 ? smallest : desc.row_pitch;
  const std::uint64_t pitch_step = device.limits.view_pitch_alignment * texel;
  if (pitch < smallest || pitch % pitch_step != 0)
    return invalid_argument(
        "view: a row pitch of {} bytes: a row of {} texels of {} on device {} needs {} bytes, or a "
        "larger multiple of {}",
        pitch, extent.width, to_string(format), device.name, smallest, pitch_step);
  if (pitch > buffer->bytes())
    return invalid_argument("view: the row pitch is {} bytes, but the buffer has {}", pitch,
                            buffer->bytes());
  // No overflow: the pitch is at most the buffer's bytes, the height at most the device's limit.
  const std::uint64_t bytes = extent.height * pitch;
  if (!range_fits(desc.offset, bytes, buffer->bytes()))
    return invalid_argument(
        "view: {} of {} with a row pitch of {} take {} bytes at offset {}, but the buffer has {}",
        to_string(extent), to_string(format), pitch, bytes, desc.offset, buffer->bytes());
  TextureBacking backing{.buffer = buffer->shared_root(),
                         .offset = buffer->base_offset() + desc.offset,
                         .row_pitch = pitch,
                         .bytes = bytes};
  const std::uint64_t base_step = device.limits.view_base_alignment * texel;
  if (backing.offset % base_step != 0 ||
      backing.offset % device.limits.buffer_offset_alignment != 0)
    return invalid_argument(
        "view: the first texel is at byte {} of the memory, but device {} requires a multiple of "
        "{} and of {}",
        backing.offset, device.name, base_step, device.limits.buffer_offset_alignment);
  return backing;
}

Status check_creation(const DeviceInfo& device, const ExecutableDesc& desc) {
  if (desc.codes.empty()) return invalid_argument("an executable without code");
  for (const KernelCode& code : desc.codes) {
    const KernelFormatTraits& traits = traits_of(code.format);
    if (code.code.empty() && traits.is_code)
      return invalid_argument("an executable whose {} code is empty", traits.name);
    if (!code.code.starts_with(traits.prefix))
      return invalid_argument(
          "an executable is given as {}, but its code does not begin like that format",
          traits.name);
  }
  if (desc.entry_points.empty()) return invalid_argument("an executable without entry points");
  std::unordered_set<std::string_view> names;
  for (const EntryPoint& entry : desc.entry_points) {
    if (entry.name.empty()) return invalid_argument("an entry point without a name");
    if (!names.insert(entry.name).second)
      return invalid_argument("two entry points named \"{}\"", entry.name);
    Status status = check_workgroup(device, entry);
    if (status.ok()) status = check_params(device, entry);
    if (status.ok()) status = check_grid(entry);
    if (!status.ok()) return status.with_context(fmt::format("kernel \"{}\"", entry.name));
  }
  return {};
}

}  // namespace texloom::hal
