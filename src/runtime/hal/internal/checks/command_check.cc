#include "runtime/hal/internal/checks/command_check.h"

#include <limits>
#include <utility>
#include <vector>

namespace texloom::hal {
namespace {

template <typename Object>
Status check_object(const DeviceInfo& device, std::string_view what, const Object* object) {
  if (object == nullptr) return invalid_argument("{} is null", what);
  if (&object->device_info() != &device)
    return invalid_argument("{} belongs to another device ({}, not {})", what,
                            object->device_info().name, device.name);
  return {};
}

Status check_kernel_access(const Buffer& buffer, Access access) {
  const Access allowed = buffer.native_uses().kernels;
  if ((!reads(access) || reads(allowed)) && (!writes(access) || writes(allowed))) return {};
  return invalid_argument(
      "the application made the buffer for kernels that only {} it; help: make it for both uses "
      "(CL_MEM_READ_WRITE)",
      to_string(allowed));
}

Status check_buffer_argument(const DeviceInfo& device, const BufferParam& param,
                             const SegmentBinding& binding) {
  const auto* bound = std::get_if<BoundBuffer>(&binding);
  if (bound == nullptr) return invalid_argument("expected a buffer, got a texture");
  TL_RETURN_IF_ERROR(check_buffer_range(device, "the buffer", bound->buffer, BufferUsage::Storage,
                                        bound->offset, param.min_bytes));
  TL_RETURN_IF_ERROR(check_kernel_access(*bound->buffer, param.access));
  // Drivers cannot express a binding of zero bytes.
  if (bound->offset == bound->buffer->bytes())
    return invalid_argument("offset {} is the end of the buffer, so nothing is bound",
                            bound->offset);
  const std::uint64_t offset = root(*bound).offset;
  if (offset % device.limits.buffer_offset_alignment != 0)
    return invalid_argument("offset {} is not a multiple of the device's {} bytes", offset,
                            device.limits.buffer_offset_alignment);
  return {};
}

Status check_texture_argument(const DeviceInfo& device, const TextureParam& param,
                              const SegmentBinding& binding) {
  const auto* bound = std::get_if<BoundTexture>(&binding);
  if (bound == nullptr)
    return invalid_argument("expected a texture {}, got a buffer", to_string(param.format));
  const TextureUsage usage = reads(param.access) ? TextureUsage::Sampled : TextureUsage::Storage;
  TL_RETURN_IF_ERROR(check_texture_region(device, "the texture", bound->texture, usage,
                                          bound->origin, param.min_extent));
  if (bound->texture->format() != param.format)
    return invalid_argument("expected a texture {}, got one of {}", to_string(param.format),
                            to_string(bound->texture->format()));
  if (param.origin == TextureOrigin::Zero && bound->origin != Offset2D{})
    return invalid_argument("is specialized for origin (0, 0), got origin {}",
                            to_string(bound->origin));
  return {};
}

Status check_constant_argument(const ConstantParam& param, const Constant& constant) {
  if (constant.type() == param.type) return {};
  return invalid_argument("expected a constant {}, got one of {}", to_string(param.type),
                          to_string(constant.type()));
}

// A memory parameter and its binding.
struct Use {
  const KernelParam* param;
  const SegmentBinding* binding;
};

// A kernel must not both read and write the same memory object as an image.
bool are_conflicting_textures(const Use& a, const Use& b) {
  const auto* x = std::get_if<BoundTexture>(a.binding);
  const auto* y = std::get_if<BoundTexture>(b.binding);
  return x != nullptr && y != nullptr && x->texture == y->texture &&
         access_of(*a.param) != access_of(*b.param);
}

// A range of bytes of a root buffer; without a buffer the range is empty.
struct ByteRange {
  const Buffer* buffer = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

// The bytes that a use touches in a buffer. A texture that is a view touches everything that it
// covers; a texture that owns its memory touches none.
ByteRange bytes_of(const Use& use) {
  if (const auto* buffer = std::get_if<BoundBuffer>(use.binding)) {
    const BoundBuffer place = root(*buffer);
    return {place.buffer, place.offset, touched_bytes(std::get<BufferParam>(*use.param), place)};
  }
  const auto* texture = std::get_if<BoundTexture>(use.binding);
  const TextureBacking* backing = texture == nullptr ? nullptr : texture->texture->backing();
  if (backing == nullptr) return {};
  return {backing->buffer.get(), backing->offset, backing->bytes};
}

// Kernels are compiled with the promise that memory they write is not shared with another
// parameter.
bool are_conflicting_buffers(const Use& a, const Use& b) {
  if (!writes(access_of(*a.param)) && !writes(access_of(*b.param))) return false;
  const auto* x = std::get_if<BoundTexture>(a.binding);
  const auto* y = std::get_if<BoundTexture>(b.binding);
  if (x != nullptr && y != nullptr && x->texture == y->texture) return false;  // see above
  const ByteRange p = bytes_of(a);
  const ByteRange q = bytes_of(b);
  return p.buffer != nullptr && p.buffer == q.buffer &&
         ranges_meet(p.offset, p.bytes, q.offset, q.bytes);
}

// Whether two arguments are in one buffer, at least one of them a view and at least one written, on
// a device without DeviceFeatures::disjoint_views.
bool needs_disjoint_views(const DeviceInfo& device, const Use& a, const Use& b) {
  const bool views = std::holds_alternative<BoundTexture>(*a.binding) ||
                     std::holds_alternative<BoundTexture>(*b.binding);
  if (device.features.disjoint_views || !views) return false;
  const auto* x = std::get_if<BoundTexture>(a.binding);
  const auto* y = std::get_if<BoundTexture>(b.binding);
  if (x != nullptr && y != nullptr && x->texture == y->texture) return false;
  const Buffer* buffer = bytes_of(a).buffer;
  return (writes(access_of(*a.param)) || writes(access_of(*b.param))) && buffer != nullptr &&
         buffer == bytes_of(b).buffer;
}

// The index of the next buffer or texture parameter after `i`.
std::size_t next_memory_param(const EntryPoint& entry, std::size_t i) {
  do ++i;
  while (i < entry.params.size() && !is_bound(entry.params[i]));
  return i;
}

Status check_aliases(const DeviceInfo& device, const EntryPoint& entry,
                     std::span<const SegmentBinding> bindings) {
  const std::size_t before_first = std::numeric_limits<std::size_t>::max();
  std::size_t i = before_first;
  for (const SegmentBinding& binding : bindings) {
    i = next_memory_param(entry, i);
    const Use use{&entry.params[i], &binding};
    std::size_t j = before_first;
    for (const SegmentBinding* before = bindings.data(); before != &binding; ++before) {
      j = next_memory_param(entry, j);
      const Use other{&entry.params[j], before};
      const bool textures = are_conflicting_textures(other, use);
      if (!textures && !are_conflicting_buffers(other, use) &&
          needs_disjoint_views(device, other, use))
        return make_error(
            StatusCode::Unimplemented,
            "kernel \"{}\": arguments \"{}\" ({}) and \"{}\" ({}) are parts of one "
            "buffer, and a view is among them: device {} is not known to support this; help: bind "
            "them to different buffers",
            entry.name, name_of(*other.param), to_string(access_of(*other.param)),
            name_of(*use.param), to_string(access_of(*use.param)), device.name);
      if (!textures && !are_conflicting_buffers(other, use)) continue;
      return invalid_argument(
          "kernel \"{}\": arguments \"{}\" ({}) and \"{}\" ({}) are the same {}", entry.name,
          name_of(*other.param), to_string(access_of(*other.param)), name_of(*use.param),
          to_string(access_of(*use.param)), textures ? "texture" : "memory");
    }
  }
  return {};
}

Status check_counts(const EntryPoint& entry, std::size_t bindings, std::size_t constants) {
  std::size_t wanted_bindings = 0;
  std::size_t wanted_constants = 0;
  for (const KernelParam& param : entry.params) {
    if (is_bound(param)) ++wanted_bindings;
    if (std::holds_alternative<ConstantParam>(param)) ++wanted_constants;
  }
  if (bindings != wanted_bindings)
    return invalid_argument("kernel \"{}\" takes {} buffers and textures, got {}", entry.name,
                            wanted_bindings, bindings);
  if (constants != wanted_constants)
    return invalid_argument("kernel \"{}\" takes {} constants, got {}", entry.name,
                            wanted_constants, constants);
  return {};
}

// Checks the binding of a buffer or texture parameter.
Status check_memory_argument(const DeviceInfo& device, const KernelParam& param,
                             const SegmentBinding& binding) {
  if (std::holds_alternative<BindingSlot>(binding)) return {};
  if (const auto* buffer = std::get_if<BufferParam>(&param))
    return check_buffer_argument(device, *buffer, binding);
  return check_texture_argument(device, std::get<TextureParam>(param), binding);
}

Status in_argument(const Status& status, const EntryPoint& entry, std::size_t i) {
  return status.with_context(
      fmt::format("kernel \"{}\": argument {} \"{}\"", entry.name, i, name_of(entry.params[i])));
}

}  // namespace

Status check_buffer_range(const DeviceInfo& device, std::string_view what, const Buffer* buffer,
                          BufferUsage usage, std::uint64_t offset, std::uint64_t bytes) {
  TL_RETURN_IF_ERROR(check_object(device, what, buffer));
  if (!allows(buffer->desc().usage, usage))
    return invalid_argument(
        "{} was made without the usage that the command needs; help: create it with that usage",
        what);
  if (!range_fits(offset, bytes, buffer->bytes()))
    return invalid_argument("{} has {} bytes, wanted {} at offset {}", what, buffer->bytes(), bytes,
                            offset);
  return {};
}

Status check_texture_region(const DeviceInfo& device, std::string_view what, const Texture* texture,
                            TextureUsage usage, Offset2D origin, Extent2D extent) {
  TL_RETURN_IF_ERROR(check_object(device, what, texture));
  if (!allows(texture->desc().usage, usage))
    return invalid_argument(
        "{} was made without the usage that the command needs; help: create it with that usage",
        what);
  if (!region_fits(origin, extent, texture->extent()))
    return invalid_argument("{} has {}, wanted {} at {}", what, to_string(texture->extent()),
                            to_string(extent), to_string(origin));
  return {};
}

Result<BufferTextureRegion> check_buffer_rows(const DeviceInfo& device, std::string_view what,
                                              const Buffer* buffer, BufferUsage usage,
                                              const BufferTextureRegion& region,
                                              TexelFormat format) {
  BufferTextureRegion resolved = region;
  const std::uint64_t row_bytes = std::uint64_t{region.extent.width} * bytes_per_texel(format);
  if (region.row_pitch == 0) resolved.row_pitch = row_bytes;
  if (resolved.row_pitch < row_bytes)
    return invalid_argument("{} has a row pitch of {} bytes, but a row of {} texels takes {}", what,
                            resolved.row_pitch, region.extent.width, row_bytes);
  std::uint64_t bytes = 0;
  if (region.extent.width != 0 && region.extent.height != 0) {
    const std::uint64_t gaps = region.extent.height - 1;
    const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - row_bytes;
    if (gaps != 0 && resolved.row_pitch > room / gaps)
      return invalid_argument("{} has a row pitch of {} bytes, so its rows exceed 2^64 bytes", what,
                              resolved.row_pitch);
    bytes = gaps * resolved.row_pitch + row_bytes;
  }
  TL_RETURN_IF_ERROR(check_buffer_range(device, what, buffer, usage, region.buffer_offset, bytes));
  return resolved;
}

Status check_dispatch(const DeviceInfo& device, const Executable* executable,
                      std::uint32_t entry_point, std::span<const SegmentBinding> bindings,
                      std::span<const Constant> constants) {
  TL_RETURN_IF_ERROR(check_object(device, "dispatch: the executable", executable));
  if (entry_point >= executable->entry_points().size())
    return invalid_argument("dispatch: entry point {} is out of range: there are {}", entry_point,
                            executable->entry_points().size());
  const EntryPoint& entry = executable->entry_points()[entry_point];
  TL_RETURN_IF_ERROR(check_counts(entry, bindings.size(), constants.size()));

  std::size_t next_binding = 0;
  std::size_t next_constant = 0;
  for (std::size_t i = 0; i < entry.params.size(); ++i) {
    const KernelParam& param = entry.params[i];
    Status status;
    if (is_bound(param)) {
      status = check_memory_argument(device, param, bindings[next_binding++]);
    } else if (const auto* constant = std::get_if<ConstantParam>(&param)) {
      status = check_constant_argument(*constant, constants[next_constant++]);
    }
    if (!status.ok()) return in_argument(status, entry, i);
  }
  return check_aliases(device, entry, bindings);
}

Status check_groups(const DeviceInfo& device, const std::array<std::uint32_t, 3>& groups) {
  for (std::size_t axis = 0; axis < groups.size(); ++axis) {
    const std::uint32_t most = device.limits.max_groups[axis];
    if (groups[axis] > most)
      return invalid_argument("dispatch: {} work groups along axis {}, but device {} allows {}",
                              groups[axis], axis, device.name, most);
  }
  return {};
}

Status look_up(const BindingSlot& slot, std::span<const Binding> table, SegmentBinding& entry) {
  if (slot.index >= table.size())
    return invalid_argument("slot {} is out of range: the table has {}", slot.index, table.size());
  if (const auto* texture = std::get_if<TextureBinding>(&table[slot.index])) {
    if (slot.offset != 0)
      return invalid_argument(
          "slot {} has an offset of {} bytes, but the table has a texture there", slot.index,
          slot.offset);
    entry = BoundTexture{texture->texture.get(), texture->origin};
    return {};
  }
  const auto& buffer = std::get<BufferBinding>(table[slot.index]);
  if (slot.offset > std::numeric_limits<std::uint64_t>::max() - buffer.offset)
    return invalid_argument("slot {}: its offset plus that of the table's buffer exceeds 64 bits",
                            slot.index);
  entry = BoundBuffer{buffer.buffer.get(), buffer.offset + slot.offset};
  return {};
}

Status check_table(const DeviceInfo& device, const KernelCall& call,
                   std::span<const Binding> table) {
  const EntryPoint& entry = call.entry();
  std::vector<SegmentBinding> bindings(call.bindings.begin(), call.bindings.end());
  std::size_t i = std::numeric_limits<std::size_t>::max();
  for (SegmentBinding& binding : bindings) {
    i = next_memory_param(entry, i);
    if (!std::holds_alternative<BindingSlot>(binding)) continue;
    Status status = look_up(std::get<BindingSlot>(binding), table, binding);
    if (status.ok()) status = check_memory_argument(device, entry.params[i], binding);
    if (!status.ok()) return in_argument(status, entry, i);
  }
  return check_aliases(device, entry, bindings);
}

namespace {

Status check_native_argument(const DeviceInfo& device, const NativeArgument& argument,
                             const SegmentBinding& memory) {
  constexpr std::string_view kWhat = "native: the memory";
  if (const auto* place = std::get_if<BoundBuffer>(&memory)) {
    TL_RETURN_IF_ERROR(check_buffer_range(device, kWhat, place->buffer, BufferUsage::Storage,
                                          place->offset, argument.bytes));
    return check_kernel_access(*place->buffer, argument.access);
  }
  const auto& place = std::get<BoundTexture>(memory);
  for (const auto& [is_used, usage] : {std::pair(reads(argument.access), TextureUsage::Sampled),
                                       std::pair(writes(argument.access), TextureUsage::Storage)}) {
    if (is_used)
      TL_RETURN_IF_ERROR(
          check_texture_region(device, kWhat, place.texture, usage, place.origin, argument.extent));
  }
  return {};
}

}  // namespace

Status check_native(const DeviceInfo& device, std::span<const NativeArgument> arguments) {
  for (const NativeArgument& argument : arguments) {
    if (!std::holds_alternative<BindingSlot>(argument.memory))
      TL_RETURN_IF_ERROR(check_native_argument(device, argument, argument.memory));
  }
  return {};
}

Status check_native_table(const DeviceInfo& device, const NativeSegment& segment,
                          std::span<const Binding> table) {
  for (const NativeArgument& argument : segment.arguments) {
    const auto* slot = std::get_if<BindingSlot>(&argument.memory);
    if (slot == nullptr) continue;
    SegmentBinding memory;
    TL_RETURN_IF_ERROR(look_up(*slot, table, memory).with_context("native"));
    TL_RETURN_IF_ERROR(check_native_argument(device, argument, memory));
  }
  return {};
}

Status check_indirect_groups(const DeviceInfo& device, const SegmentBinding& groups) {
  const auto* place = std::get_if<BoundBuffer>(&groups);
  if (place == nullptr)
    return invalid_argument(
        "dispatch_indirect: the numbers of groups must be in a buffer, got a texture");
  constexpr std::uint64_t kBytes = 3 * sizeof(std::uint32_t);
  TL_RETURN_IF_ERROR(check_buffer_range(device, "dispatch_indirect: the buffer of groups",
                                        place->buffer, BufferUsage::Indirect, place->offset,
                                        kBytes));
  const std::uint64_t offset = root(*place).offset;
  if (offset % sizeof(std::uint32_t) != 0)
    return invalid_argument(
        "dispatch_indirect: the groups are at byte {} of their buffer, not at a multiple of 4",
        offset);
  return {};
}

Status check_host_call(const DeviceInfo& device, std::span<const BindingRef> memory) {
  constexpr std::string_view kWhat = "host_call: the memory";
  for (const BindingRef& each : memory) {
    if (const auto* buffer = std::get_if<BufferBinding>(&each))
      TL_RETURN_IF_ERROR(check_object(device, kWhat, buffer->buffer.get()));
    if (const auto* texture = std::get_if<TextureBinding>(&each))
      TL_RETURN_IF_ERROR(check_object(device, kWhat, texture->texture.get()));
  }
  return {};
}

Status check_host_call_table(const DeviceInfo& device, std::span<const BindingRef> memory,
                             std::span<const Binding> table) {
  constexpr std::string_view kWhat = "host_call: the memory";
  for (const BindingRef& each : memory) {
    const auto* slot = std::get_if<BindingSlot>(&each);
    if (slot == nullptr) continue;
    SegmentBinding entry;
    TL_RETURN_IF_ERROR(look_up(*slot, table, entry).with_context("host_call"));
    if (const auto* buffer = std::get_if<BoundBuffer>(&entry))
      TL_RETURN_IF_ERROR(check_object(device, kWhat, buffer->buffer));
    if (const auto* texture = std::get_if<BoundTexture>(&entry))
      TL_RETURN_IF_ERROR(check_object(device, kWhat, texture->texture));
  }
  return {};
}

}  // namespace texloom::hal
