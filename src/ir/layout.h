// Layouts: where the elements of a tensor lie, as a value.
//
// A layout cuts each logical axis into parts and deals the parts out to rows, columns and lanes.
// A part of axis `a` is the mixed-radix digit (index[a] / divisor) % extent. A row, column or
// lane number is the number whose digits are its parts, most significant first:
//
//     shape (56, 56, 7), scope "texture":
//     texture[(d0, d1, d2) -> rows=(d0, d1), cols=(d2/4), lanes=(d2%4)]     3136 rows x 2 columns
//
// A linear buffer has one row and one lane: its columns are all axes in order, so that the column
// is the offset in elements. A fold moves the outer part of a row's axis to the columns (or the
// other way round), so a folded layout is a layout like any other.
//
// Coordinates at which no element lies (a split that does not divide, lanes past the last
// extent) are padding.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/scope.h"
#include "ir/type.h"

namespace texloom::ir {

// What a reader may assume of padding.
enum class Padding : unsigned char { Undefined, Zero };

enum class MemoryObject : unsigned char { Buffer, Image2d, Image2dArray, Image1dBuffer };
// As layouts are written: "buffer", "texture", "image2d_array", "image1d_buffer".
std::string_view spelling(MemoryObject object);

// A texel's channels: what a texture read returns.
inline constexpr int kTexelLanes = 4;
inline constexpr size_t kMaxTextureRank = 6;

// Whether images have channels of this type.
bool is_texel_type(Type type);

struct LayoutPart {
  int axis = 0;
  int64_t divisor = 1;
  int64_t extent = 1;

  bool operator==(const LayoutPart&) const = default;
};

struct Coordinates {
  int64_t row = 0, col = 0, lane = 0;
  bool operator==(const Coordinates&) const = default;
};

// An image's limits, in texels.
struct ImageLimits {
  int64_t max_width = 0, max_height = 0;
};

struct Layout {
  std::vector<int64_t> shape;  // of the tensor; every extent at least 1
  std::vector<LayoutPart> rows, cols, lanes;
  MemoryObject object = MemoryObject::Buffer;
  Padding padding = Padding::Undefined;

  bool operator==(const Layout&) const = default;

  int64_t row_count() const;   // an image's height
  int64_t col_count() const;   // an image's width; a buffer's number of elements
  int64_t lane_count() const;  // 4 for an image

  Coordinates at(const std::vector<int64_t>& index) const;
  // The inverse: nothing where the coordinates are padding or outside.
  std::optional<std::vector<int64_t>> index_at(const Coordinates& coordinates) const;

  bool fits(const ImageLimits& limits) const;
};

// Row-major, the last axis fastest.
Layout linear_layout(std::vector<int64_t> shape);

// The layout that a texture rule gives a shape of one or more axes. When the last extent is not
// 4, the last axis is first split into [ceil(extent / 4), 4]. A missing axis counts as 1.
Layout texture_layout(std::vector<int64_t> shape, TextureRule rule);

// The same layout when it fits; else the fold of least area (then the most square one) that
// does; nothing when there is none. Folds move outer parts of rows to the columns, or of columns
// to the rows.
std::optional<Layout> best_fold(const Layout& layout, const ImageLimits& limits);

// texture[(d0, d1, d2) -> rows=(d0, d1), cols=(d2/4), lanes=(d2%4)]
std::string to_string(const Layout& layout);

}  // namespace texloom::ir
