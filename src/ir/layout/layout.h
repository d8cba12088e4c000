// Layouts: values that say where the elements of a tensor are stored.
//
// A layout cuts each logical axis into parts and distributes the parts to rows, columns and lanes.
// A part of axis `a` is the mixed-radix digit (index[a] / divisor) % extent. A row, column or lane
// number is the number whose digits are its parts, most significant first:
//
//     shape (56, 56, 7), scope "texture":
//     texture[(d0, d1, d2) -> rows=(d0, d1), cols=(d2/4), lanes=(d2%4)]     3136 rows x 2 columns
//
// A linear buffer has one row and one lane: its columns are all axes in order, so that the column
// is the offset in elements. A fold moves the outer part of a row's axis to the columns (or the
// other way round), so a folded layout is a layout like any other. Layouts are made from shapes and
// rules here, from index maps in ir/layout/index_map.h, from text in ir/layout/layout_pattern.h,
// and folded in ir/layout/layout_fold.h.
//
// Coordinates without an element (after a split that does not divide, in lanes past the last
// extent) are padding.
//
// A layout is *open* if an extent of its shape is known only at the call (kToTheEnd). The outermost
// digit of such an axis is open, too, and is never a lane: the number of rows or columns depends on
// the call, but the places of digits do not. There are no coordinates and no counts of rows or
// columns until close() gives it a shape.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/layout/digits.h"
#include "ir/scope.h"
#include "ir/type.h"

namespace texloom::ir {

// Guarantee about padding: none (a recycled image is full of old values), or every writer of the
// object writes zeros there.
enum class Padding : unsigned char { Undefined, Zero };

enum class MemoryObject : unsigned char { Buffer, Image2d, Image2dArray, Image1dBuffer };
// The name of the object in the text of layouts: "buffer", "texture", "image2d_array",
// "image1d_buffer".
std::string_view spelling(MemoryObject object);

// The number of channels of a texel. A texture read returns all of them.
inline constexpr int kTexelLanes = 4;
inline constexpr size_t kMaxTextureRank = 6;

// Whether images can have channels of this type.
bool is_texel_type(Type type);

struct Coordinates {
  int64_t row = 0, col = 0, lane = 0;
  bool operator==(const Coordinates&) const = default;
};

struct Layout {
  Shape shape;  // of the tensor; every extent at least 1, or kToTheEnd
  LayoutParts rows, cols, lanes;
  MemoryObject object = MemoryObject::Buffer;
  Padding padding = Padding::Undefined;

  // Layouts that differ only in how digits are cut compare as unequal; see same_places.
  bool operator==(const Layout&) const = default;

  bool is_open() const;

  int64_t row_count() const { return count_of(rows); }    // an image's height
  int64_t col_count() const { return count_of(cols); }    // an image's width, or a buffer's size
  int64_t lane_count() const { return count_of(lanes); }  // 4 for an image

  Coordinates at(const std::vector<int64_t>& index) const;
  // The inverse of at(); nullopt if the coordinates are padding or outside.
  std::optional<std::vector<int64_t>> index_at(const Coordinates& coordinates) const;

  bool has_padding() const;

  // The axis along which a texel's lanes are consecutive indices that begin at a multiple of the
  // number of lanes; nullopt if the lanes are other digits.
  std::optional<int> lane_axis() const;
  // The extent of an axis that is not open, rounded up to whole texels if it is lane_axis().
  int64_t extent_with_lanes(size_t axis) const;
};

struct LayoutProblem {
  std::string text, help;   // lower case, without a final stop
  std::optional<int> axis;  // the axis at fault
  bool lanes = false;       // whether the lanes are at fault
};
// Finds what is wrong with a layout whose axes have these names: an index without a place or with
// two, extents below 1 or too large, rows in a buffer, or a texel without exactly four lanes. All
// other functions here require a layout without a problem. An open layout is a problem, except for
// a texture.
std::optional<LayoutProblem> find_problem(const Layout& layout,
                                          const std::vector<std::string>& names);

// Whether both layouts give each element the same place, in objects of the same kind and size and
// with the same padding. May be false for layouts that differ only in padding that no element could
// reach.
bool same_places(const Layout& a, const Layout& b);

// The layout of `shape`, which has values for the open extents of `open` and equals its other
// extents.
Layout close(const Layout& open, const Shape& shape);

// Row-major, the last axis fastest.
Layout linear_layout(Shape shape);

// The layout that a texture rule gives a shape of one or more axes, which may be open. If the last
// extent is not 4, the last axis is first split into [ceil(extent / 4), 4]. A missing axis counts
// as 1.
Layout texture_layout(const Shape& shape, TextureRule rule);

// d0, d1, ...: the default names of axes.
std::vector<std::string> axis_names(size_t rank);

// texture[(d0, d1, d2) -> rows=(d0, d1), cols=(d2/4), lanes=(d2%4)]
std::string to_string(const Layout& layout);
std::string to_string(const Layout& layout, const std::vector<std::string>& names);

}  // namespace texloom::ir
