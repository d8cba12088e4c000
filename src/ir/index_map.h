// Index maps: other axes for the same elements, as a value.
//
// Each new axis is a number of digits of the old ones (ir/digits.h), so that splits, permutations,
// fusions and all that is composed of them are maps of one form:
//
//     (d0, d1, d2) -> (d0, d1/4, d2, d1%4)       NCHW to NCHW4c, one image
//
// Every old index has one new index; where a split does not divide, some new indices have no old
// one. A layout is what becomes of a map when its axes are dealt out to rows, columns and lanes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/layout.h"

namespace texloom::ir {

struct IndexMap {
  Shape shape;                    // of the old axes
  std::vector<LayoutParts> axes;  // the new ones

  bool operator==(const IndexMap&) const = default;

  Shape new_shape() const;
  std::vector<int64_t> at(const std::vector<int64_t>& index) const;
  // The inverse of at: nothing where the new index has no old one, or is outside.
  std::optional<std::vector<int64_t>> index_at(const std::vector<int64_t>& new_index) const;
};

IndexMap identity_map(Shape shape);

// -- Steps. Each axis is one of the new axes of `map`, in range.

// An axis of one digit as two: [ceil(extent / factor), factor]. The factor divides the extent
// unless the digit is the outermost of its old axis.
IndexMap split_axis(IndexMap map, size_t axis, int64_t factor);
// The axes in this order, each once.
IndexMap permute_axes(const IndexMap& map, const std::vector<size_t>& order);
// Two neighbours as one: axis * extent + the next.
IndexMap fuse_axes(IndexMap map, size_t axis);

// -- The algebra.

// First `first`, then `second`, a map of first's new shape. Nothing where the result is no map of
// digits: 6 = 2 * 3 fused and split by 4 cuts through both.
std::optional<IndexMap> compose(const IndexMap& first, const IndexMap& second);
// From the new shape back to the old axes, which are as long as their digits reach.
IndexMap invert(const IndexMap& map);
// Digits of extent 1 left out and neighbours joined: equal for maps that are equal everywhere.
IndexMap simplified(IndexMap map);

// -- Layouts.

// Where rows end and columns end, as counts of axes; the rest are lanes.
struct Separators {
  size_t rows = 0, cols = 0;
};
Layout distribute(const IndexMap& map, Separators separators, MemoryObject object);
// The layout, a map to (rows, columns, lanes).
IndexMap as_map(const Layout& layout);
// The layout of the old axes in which each element lies where `layout` puts its new index. Nothing
// as of compose.
std::optional<Layout> compose(const IndexMap& map, const Layout& layout);

// What is wrong with a map, with the names of its old axes: elements without a new index, or with
// two.
std::optional<LayoutProblem> find_problem(const IndexMap& map,
                                          const std::vector<std::string>& names);

// (d0, d1, d2) -> (d0, d1/4, d2, d1%4); a new axis of several digits is in brackets. Separators,
// each in front of the new axis of this number, are bars: (d0, d1/4, |, d2, d1%4).
std::string to_string(const IndexMap& map, const std::vector<size_t>& separators = {});

}  // namespace texloom::ir
