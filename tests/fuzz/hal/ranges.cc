#include "tests/fuzz/hal/ranges.h"

#include <algorithm>

namespace texloom::hal::fuzz {

bool conflict(const Touch& a, const Touch& b, bool slots_alias) {
  if (!a.writes && !b.writes) return false;
  if (a.slot || b.slot) return slots_alias || a.slot == b.slot;
  return a.memory == b.memory && a.x_begin < b.x_end && b.x_begin < a.x_end &&
         a.y_begin < b.y_end && b.y_begin < a.y_end;
}

Touch bytes_touched(const Memory& memory, std::uint64_t begin, std::uint64_t bytes, bool writes) {
  return {.memory = &memory, .writes = writes, .x_begin = begin, .x_end = begin + bytes};
}

Touch texels_touched(const TextureInfo& texture, Offset2D origin, Extent2D extent, bool writes) {
  if (texture.is_view)
    return bytes_touched(*texture.memory, texture.base + origin.y * texture.pitch,
                         extent.height * texture.pitch, writes);
  return {.memory = texture.memory.get(),
          .writes = writes,
          .x_begin = origin.x,
          .x_end = origin.x + std::uint64_t{extent.width},
          .y_begin = origin.y,
          .y_end = origin.y + std::uint64_t{extent.height}};
}

Rows rows_of(const TextureInfo& texture, Offset2D origin, Extent2D extent) {
  return {texture.memory.get(), texture.at(origin.x, origin.y), texture.pitch,
          extent.width * texture.texel(), extent.height};
}

bool meet(const Rows& a, const Rows& b) {
  if (a.memory != b.memory) return false;
  for (std::uint64_t i = 0; i < a.count; ++i) {
    for (std::uint64_t j = 0; j < b.count; ++j) {
      if (meet(ByteRange{a.memory, a.begin + i * a.pitch, a.row_bytes},
               ByteRange{b.memory, b.begin + j * b.pitch, b.row_bytes}))
        return true;
    }
  }
  return false;
}

void copy_rows(const Rows& from, const Rows& to) {
  for (std::uint64_t i = 0; i < from.count; ++i) {
    const auto source =
        from.memory->bytes.begin() + static_cast<std::ptrdiff_t>(from.begin + i * from.pitch);
    std::copy_n(source, from.row_bytes,
                to.memory->bytes.begin() + static_cast<std::ptrdiff_t>(to.begin + i * to.pitch));
  }
}

}  // namespace texloom::hal::fuzz
