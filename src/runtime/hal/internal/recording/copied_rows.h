// The buffer side of a copy between a buffer and a texture.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/hal/segment.h"

namespace texloom::hal {

// Rows of texels in a buffer, measured in bytes.
struct CopiedRows {
  std::uint64_t row_bytes;
  std::uint64_t height;
  std::uint64_t pitch;   // bytes from row to row; meaningless for a single row
  std::uint64_t offset;  // of the first row

  CopiedRows(const BufferTextureRegion& region, TexelFormat format)
      : row_bytes(std::uint64_t{region.extent.width} * bytes_per_texel(format)),
        height(region.extent.height),
        pitch(region.row_pitch),
        offset(region.buffer_offset) {}

  // The same rows without gaps, starting at byte `place` of a buffer.
  CopiedRows without_gaps_at(std::uint64_t place) const {
    CopiedRows rows = *this;
    rows.pitch = row_bytes;
    rows.offset = place;
    return rows;
  }

  // `count` rows from the row `begin` on.
  CopiedRows part(std::uint64_t begin, std::uint64_t count) const {
    CopiedRows rows = *this;
    rows.offset += begin * pitch;
    rows.height = count;
    return rows;
  }

  // A single row has no gaps.
  bool without_gaps() const { return height == 1 || pitch == row_bytes; }
  std::uint64_t last_row() const { return offset + pitch * (height - 1); }
  // The number of rows without gaps that fit into this many bytes; at least one.
  std::uint64_t rows_within(std::uint64_t bytes) const {
    return std::max<std::uint64_t>(bytes / row_bytes, 1);
  }
};

}  // namespace texloom::hal
