// The places of a tensor's elements in its buffer or texture, and copies between these places and
// row-major arrays on the host.
//
// A place has a row, a column and a lane. Each is a number whose digits, most significant first,
// are digits of the element's index. A buffer has one row and one lane, so the column is the offset
// in elements; a texture has four lanes, the channels of a texel at (column, row):
//
//     shape (2, 8, 3), texture     rows (d0), cols (d1), lanes (d2)
//
// This texture has 8 x 2 texels, whose lane 3 is padding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace texloom::runtime {

// (index[axis] / divisor) % extent
struct LayoutDigit {
  std::uint32_t axis = 0;
  std::int64_t divisor = 1;
  std::int64_t extent = 1;  // 0 in a layout without a shape: the digit reaches to the end

  bool operator==(const LayoutDigit&) const = default;
};

// Plain data. Every index has exactly one place; places without an element are padding. A layout
// without a shape, but with digits, fits arrays of several shapes: with_shape() gives the layout a
// shape.
struct TensorLayout {
  std::vector<std::int64_t> shape;  // of the row-major array; every extent at least 1
  std::vector<LayoutDigit> rows, cols, lanes;

  bool operator==(const TensorLayout&) const = default;

  std::int64_t elements() const;  // of the array
  std::int64_t places() const;    // rows * columns * lanes
  bool is_row_major() const;      // whether places and elements are in the same order
};

// The layout with this shape, whose extents are at least 1; digits that reach to the end of their
// axes get their extents. nullopt if it would have more than 2^32 - 1 rows or columns.
std::optional<TensorLayout> with_shape(TensorLayout layout, std::vector<std::int64_t> shape);
std::int64_t number_count(const std::vector<LayoutDigit>& digits);

// One row and one lane, the last axis fastest.
TensorLayout row_major(std::vector<std::int64_t> shape);

// `elements` are those of the array, `places` all places, row by row; padding becomes zero.
void pack(const TensorLayout& layout, std::size_t element_bytes,
          std::span<const std::byte> elements, std::span<std::byte> places);
void unpack(const TensorLayout& layout, std::size_t element_bytes,
            std::span<const std::byte> places, std::span<std::byte> elements);

}  // namespace texloom::runtime
