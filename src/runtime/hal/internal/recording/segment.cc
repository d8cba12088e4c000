#include "runtime/hal/segment.h"

#include <string_view>

namespace texloom::hal {

BoundBuffer buffer_of(const BindingSlot& slot, std::span<const Binding> table) {
  const auto& entry = std::get<BufferBinding>(table[slot.index]);
  return root({entry.buffer.get(), entry.offset + slot.offset});
}

BoundTexture texture_of(const BindingSlot& slot, std::span<const Binding> table) {
  const auto& entry = std::get<TextureBinding>(table[slot.index]);
  return {entry.texture.get(), entry.origin};
}

BoundMemory resolve(const SegmentBinding& binding, std::span<const Binding> table) {
  if (const auto* buffer = std::get_if<BoundBuffer>(&binding)) return *buffer;
  if (const auto* texture = std::get_if<BoundTexture>(&binding)) return *texture;
  const BindingSlot& slot = std::get<BindingSlot>(binding);
  if (std::holds_alternative<TextureBinding>(table[slot.index])) return texture_of(slot, table);
  return buffer_of(slot, table);
}

std::string_view name_of(const Segment& segment) {
  constexpr std::array<std::string_view, std::variant_size_v<Segment>> kNames = {
      "dispatch",
      "dispatch_indirect",
      "fill",
      "update",
      "readback",
      "copy_buffer",
      "copy_buffer_to_texture",
      "copy_texture_to_buffer",
      "copy_texture",
      "native",
      "barrier",
      "host_call"};
  return kNames[segment.index()];
}

const KernelCall* call_of(const Segment& segment) {
  if (const auto* dispatch = std::get_if<DispatchSegment>(&segment)) return &dispatch->call;
  if (const auto* dispatch = std::get_if<IndirectDispatchSegment>(&segment)) return &dispatch->call;
  return nullptr;
}

Extent2D touched_extent(const TextureParam& param, const BoundTexture& place) {
  return param.min_extent != Extent2D{} ? param.min_extent : place.texture->extent();
}

std::uint64_t touched_bytes(const NativeArgument& argument, const BoundBuffer& place) {
  return argument.bytes != 0 ? argument.bytes : place.bytes;
}

Extent2D touched_extent(const NativeArgument& argument, const BoundTexture& place) {
  if (argument.extent != Extent2D{}) return argument.extent;
  const Extent2D whole = place.texture->extent();
  return {whole.width - place.origin.x, whole.height - place.origin.y};
}

namespace {

std::uint64_t bytes_of(const NativeSegment& segment, std::span<const Binding> table) {
  std::uint64_t bytes = 0;
  for (const NativeArgument& argument : segment.arguments) {
    const BoundMemory bound = resolve(argument.memory, table);
    if (const auto* texture = std::get_if<BoundTexture>(&bound)) {
      bytes += byte_size(touched_extent(argument, *texture), texture->texture->format());
    } else {
      bytes += touched_bytes(argument, std::get<BoundBuffer>(bound));
    }
  }
  return bytes;
}

std::uint64_t bytes_of(const KernelParam& param, const BoundMemory& bound) {
  if (const auto* texture = std::get_if<TextureParam>(&param)) {
    return byte_size(touched_extent(*texture, std::get<BoundTexture>(bound)), texture->format);
  }
  return touched_bytes(std::get<BufferParam>(param), std::get<BoundBuffer>(bound));
}

std::uint64_t bytes_of(const KernelCall& call, std::span<const Binding> table) {
  std::uint64_t bytes = 0;
  auto binding = call.bindings.begin();
  for (const KernelParam& param : call.entry().params) {
    if (is_bound(param)) bytes += bytes_of(param, resolve(*binding++, table));
  }
  return bytes;
}

// The bytes that copies, fills, updates and readbacks transfer.
struct TransferBytes {
  std::uint64_t operator()(const FillSegment& s) const { return s.bytes; }
  std::uint64_t operator()(const UpdateSegment& s) const { return s.data.size(); }
  std::uint64_t operator()(const ReadbackSegment& s) const { return s.data.size(); }
  std::uint64_t operator()(const CopyBufferSegment& s) const { return 2 * s.bytes; }
  std::uint64_t operator()(const CopyBufferToTextureSegment& s) const {
    return 2 * byte_size(s.region.extent, s.target->format());
  }
  std::uint64_t operator()(const CopyTextureToBufferSegment& s) const {
    return 2 * byte_size(s.region.extent, s.source->format());
  }
  std::uint64_t operator()(const CopyTextureSegment& s) const {
    return 2 * byte_size(s.extent, s.source->format());
  }
  template <class Other>
  std::uint64_t operator()(const Other&) const {
    return 0;
  }
};

}  // namespace

std::string label_of(const Segment& segment) {
  const KernelCall* call = call_of(segment);
  return call != nullptr ? call->entry().name : std::string(name_of(segment));
}

std::uint64_t bytes_of(const Segment& segment, std::span<const Binding> table) {
  if (const KernelCall* call = call_of(segment)) return bytes_of(*call, table);
  if (const auto* native = std::get_if<NativeSegment>(&segment)) return bytes_of(*native, table);
  return std::visit(TransferBytes(), segment);
}

}  // namespace texloom::hal
