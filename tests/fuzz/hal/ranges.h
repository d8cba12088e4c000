// Range arithmetic of the model, in integers that do not overflow.
#pragma once

#include <cstdint>

#include "tests/fuzz/hal/model.h"

namespace texloom::hal::fuzz {

__extension__ using Wide = unsigned __int128;

inline bool fits(std::uint64_t offset, std::uint64_t bytes, std::uint64_t total) {
  return Wide{offset} + bytes <= total;
}
inline bool fits(Offset2D origin, Extent2D extent, Extent2D image) {
  return fits(origin.x, extent.width, image.width) && fits(origin.y, extent.height, image.height);
}

struct ByteRange {
  const Memory* memory = nullptr;
  std::uint64_t begin = 0, bytes = 0;
};
inline bool meet(const ByteRange& a, const ByteRange& b) {
  return a.memory != nullptr && a.memory == b.memory && a.bytes != 0 && b.bytes != 0 &&
         a.begin < b.begin + b.bytes && b.begin < a.begin + a.bytes;
}

Touch bytes_touched(const Memory& memory, std::uint64_t begin, std::uint64_t bytes, bool writes);
// For a view, whole rows count as touched.
Touch texels_touched(const TextureInfo& texture, Offset2D origin, Extent2D extent, bool writes);

// Rows of bytes in copies between buffers and textures.
struct Rows {
  Memory* memory = nullptr;
  std::uint64_t begin = 0, pitch = 0, row_bytes = 0, count = 0;
};
Rows rows_of(const TextureInfo& texture, Offset2D origin, Extent2D extent);
// Whether the two share a byte.
bool meet(const Rows& a, const Rows& b);
void copy_rows(const Rows& from, const Rows& to);

}  // namespace texloom::hal::fuzz
