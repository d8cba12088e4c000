#include "graph/scopes/part_places.h"

#include "ir/layout/layout.h"

namespace texloom::graph {

using ir::Coordinates;
using ir::Layout;

namespace {

// The place of the part's first element in the whole, if the offsets of all other elements from the
// first one are the same in the whole as in the part. Offsets along different axes are independent,
// so each axis is checked alone.
std::optional<Coordinates> corner_of(const Layout& part, const Layout& whole, std::size_t axis,
                                     int64_t begin) {
  if (part.object != whole.object || part.lane_count() != whole.lane_count()) return std::nullopt;
  std::vector<int64_t> first(whole.shape.size(), 0);
  first[axis] = begin;
  const Coordinates corner = whole.at(first);
  if (corner.lane != 0) return std::nullopt;
  for (std::size_t a = 0; a < part.shape.size(); ++a) {
    std::vector<int64_t> in_part(part.shape.size(), 0), in_whole = first;
    for (int64_t i = 0; i < part.shape[a]; ++i, ++in_part[a], ++in_whole[a]) {
      Coordinates expected = part.at(in_part);
      expected.row += corner.row;
      expected.col += corner.col;
      if (whole.at(in_whole) != expected) return std::nullopt;
    }
  }
  return corner;
}

bool ranges_meet(int64_t a, int64_t a_size, int64_t b, int64_t b_size) {
  return a < b + b_size && b < a + a_size;
}

}  // namespace

std::optional<std::vector<PartPlace>> part_places(const std::vector<Stored>& parts,
                                                  const Stored& whole, std::size_t axis) {
  std::vector<PartPlace> places;
  int64_t begin = 0;
  for (const Stored& part : parts) {
    const auto corner = corner_of(part.layout, whole.layout, axis, begin);
    if (!corner) return std::nullopt;
    const PartPlace place{corner->row, corner->col};
    const int64_t rows = part.layout.row_count(), cols = part.layout.col_count();
    if (place.row + rows > whole.layout.row_count() || place.col + cols > whole.layout.col_count())
      return std::nullopt;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Layout& other = parts[i].layout;
      if (ranges_meet(place.row, rows, places[i].row, other.row_count()) &&
          ranges_meet(place.col, cols, places[i].col, other.col_count()))
        return std::nullopt;
    }
    places.push_back(place);
    begin += part.layout.shape[axis];
  }
  return places;
}

}  // namespace texloom::graph
