#include "runtime/hal/creation_check.h"

#include <string_view>
#include <unordered_set>

namespace texloom::hal {
namespace {

Status check_allocation(const DeviceInfo& device, std::string_view what, std::uint64_t bytes) {
  if (bytes <= device.limits.max_allocation_bytes) return {};
  return invalid_argument("{} of {} bytes is over the limit of device {} for one allocation, {}",
                          what, bytes, device.name, device.limits.max_allocation_bytes);
}

Status check_workgroup(const DeviceInfo& device, const EntryPoint& entry) {
  const auto& size = entry.workgroup_size;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (size[axis] == 0) return invalid_argument("the workgroup size of axis {} is zero", axis);
    if (size[axis] > device.limits.max_workitem_sizes[axis])
      return invalid_argument("a workgroup of {} work items along axis {}, device {} allows {}",
                              size[axis], axis, device.name,
                              device.limits.max_workitem_sizes[axis]);
  }
  // The product of two 32-bit sizes fits; the third factor is compared by division.
  const std::uint64_t plane = std::uint64_t{size[0]} * size[1];
  if (plane > device.limits.max_workgroup_size / size[2])
    return invalid_argument("a workgroup of {} x {} x {} work items, device {} allows {}", size[0],
                            size[1], size[2], device.name, device.limits.max_workgroup_size);
  return {};
}

Status check_texture_param(const DeviceInfo& device, const TextureParam& param) {
  if (!device.features.images)
    return make_error(StatusCode::Unimplemented, "texture \"{}\": device {} has no images",
                      param.name, device.name);
  if (param.access == Access::ReadWrite)
    return make_error(StatusCode::Unimplemented,
                      "texture \"{}\": a kernel may not read and write one texture", param.name);
  return {};
}

Status check_params(const DeviceInfo& device, const EntryPoint& entry) {
  std::uint64_t read_images = 0;
  std::uint64_t write_images = 0;
  std::uint64_t argument_bytes = 0;
  for (const KernelParam& param : entry.params) {
    if (const auto* texture = std::get_if<TextureParam>(&param)) {
      TL_RETURN_IF_ERROR(check_texture_param(device, *texture));
      ++(reads(texture->access) ? read_images : write_images);
    }
    argument_bytes += sizeof(void*);
    if (const auto* constant = std::get_if<ConstantParam>(&param)) {
      const std::uint32_t bytes = byte_size(constant->type);
      if (bytes != 4 && bytes != 8)
        return invalid_argument("constant \"{}\" is {}: only types of 32 and 64 bits are passed",
                                constant->name, to_string(constant->type));
      argument_bytes += bytes - sizeof(void*);
    }
  }
  const DeviceLimits& limits = device.limits;
  if (read_images > limits.max_read_images)
    return invalid_argument("reads {} textures, device {} allows {}", read_images, device.name,
                            limits.max_read_images);
  if (write_images > limits.max_write_images)
    return invalid_argument("writes {} textures, device {} allows {}", write_images, device.name,
                            limits.max_write_images);
  if (argument_bytes > limits.max_argument_bytes)
    return invalid_argument("takes {} bytes of arguments, device {} allows {}", argument_bytes,
                            device.name, limits.max_argument_bytes);
  return {};
}

// A workload is all that a dispatch tells.
Status check_grid(const EntryPoint& entry) {
  if (!entry.grid) return {};
  for (const Size& groups : *entry.grid) {
    if (!groups.loop_slots().empty())
      return invalid_argument("its grid depends on a loop variable");
  }
  return {};
}

}  // namespace

Status check_creation(const DeviceInfo& device, const BufferDesc& desc) {
  if (desc.bytes == 0) return invalid_argument("a buffer of zero bytes");
  return check_allocation(device, "a buffer", desc.bytes);
}

Status check_creation(const DeviceInfo& device, const TextureDesc& desc) {
  if (!device.features.images)
    return make_error(StatusCode::Unimplemented, "device {} has no images", device.name);
  const Extent2D extent = desc.extent;
  if (extent.width == 0 || extent.height == 0)
    return invalid_argument("a texture of {}", to_string(extent));
  const DeviceLimits& limits = device.limits;
  if (extent.width > limits.max_image_width || extent.height > limits.max_image_height)
    return invalid_argument("a texture of {} is over the limit of device {}, {}", to_string(extent),
                            device.name,
                            to_string(Extent2D{limits.max_image_width, limits.max_image_height}));
  return check_allocation(
      device, "a texture",
      std::uint64_t{extent.width} * extent.height * bytes_per_texel(desc.format));
}

Status check_creation(const DeviceInfo& device, const ExecutableDesc& desc) {
  if (desc.codes.empty()) return invalid_argument("an executable without code");
  for (const KernelCode& code : desc.codes) {
    if (code.code.empty() && code.format != KernelFormat::HostFunctions)
      return invalid_argument("an executable given as {}, which is empty", to_string(code.format));
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
