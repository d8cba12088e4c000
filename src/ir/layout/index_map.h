// Index maps: values that give the elements of a tensor other axes.
//
// Each new axis is a list of digits of the old ones (ir/layout/digits.h). Splits, permutations,
// fusions and their compositions all have this form:
//
//     (d0, d1, d2) -> (d0, d1/4, d2, d1%4)       NCHW to NCHW4c, one image
//
// Every old index has one new index. If a split does not divide its axis, some new indices have no
// old index. Distributing the axes of a map to rows, columns and lanes makes a layout.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/layout/layout.h"

namespace texloom::ir {

struct IndexMap {
  Shape shape;                    // of the old axes
  std::vector<LayoutParts> axes;  // the new axes, as digits of the old ones

  bool operator==(const IndexMap&) const = default;

  Shape new_shape() const;
  std::vector<int64_t> at(const std::vector<int64_t>& index) const;
  // The inverse of at(); nullopt if the new index is outside or has no old index.
  std::optional<std::vector<int64_t>> index_at(const std::vector<int64_t>& new_index) const;
};

IndexMap identity_map(Shape shape);

// Splits the new axis of this number, which has one digit, into [ceil(extent / factor), factor].
// The factor divides the extent unless the digit is the outermost of its old axis.
IndexMap split_axis(IndexMap map, size_t axis, int64_t factor);

// -- The algebra.

// Applies `first`, then `second`, a map of first's new shape. nullopt if the result is not a map of
// digits: axes of 2 and 3 that are fused to 6 and then split by 4 are both cut.
std::optional<IndexMap> compose(const IndexMap& first, const IndexMap& second);

// -- Layouts.

// How many axes precede the end of the rows, and how many precede the end of the columns; all
// further axes are lanes.
struct Separators {
  size_t rows = 0, cols = 0;
};
Layout distribute(const IndexMap& map, Separators separators, MemoryObject object);
// The layout as a map to (rows, columns, lanes).
IndexMap as_map(const Layout& layout);
// The layout of the old axes that puts each element where `layout` puts its new index. nullopt if
// the result is not a layout of digits.
std::optional<Layout> compose(const IndexMap& map, const Layout& layout);

// The first problem of a map: an element without a new index, or with two. `names` are the names of
// the old axes.
std::optional<LayoutProblem> find_problem(const IndexMap& map,
                                          const std::vector<std::string>& names);

// (d0, d1, d2) -> (d0, d1/4, d2, d1%4). Parentheses enclose a new axis of several digits. Bars are
// separators, each before the new axis of that number: (d0, d1/4, |, d2, d1%4).
std::string to_string(const IndexMap& map, const std::vector<size_t>& separators = {});

}  // namespace texloom::ir
