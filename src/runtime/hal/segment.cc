#include "runtime/hal/segment.h"

#include <string_view>

namespace texloom::hal {

BoundBuffer root(const BoundBuffer& place) {
  return {&place.buffer->root(), place.buffer->base_offset() + place.offset};
}

BoundMemory resolve(const SegmentBinding& binding, std::span<const Binding> table) {
  if (const auto* buffer = std::get_if<BoundBuffer>(&binding)) return *buffer;
  if (const auto* texture = std::get_if<BoundTexture>(&binding)) return *texture;
  const BindingSlot& slot = std::get<BindingSlot>(binding);
  const Binding& entry = table[slot.index];
  if (const auto* texture = std::get_if<TextureBinding>(&entry))
    return BoundTexture{texture->texture.get(), texture->origin};
  const auto& buffer = std::get<BufferBinding>(entry);
  return root({buffer.buffer.get(), buffer.offset + slot.offset});
}

BoundBuffer resolve_buffer(const SegmentBinding& binding, std::span<const Binding> table) {
  return std::get<BoundBuffer>(resolve(binding, table));
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
      "barrier",
      "host_call"};
  return kNames[segment.index()];
}

}  // namespace texloom::hal
