#include "ir/layout/layout_fold.h"

#include <algorithm>
#include <tuple>

namespace texloom::ir {
namespace {

// The smallest folds that bring `from` under `from_limit` by moving outer parts in front of `to`:
// for each part, one fold that moves all parts before it as a whole and cuts this part in two.
template <class Offer>
void folds_of(const Shape& shape, const LayoutParts& from, const LayoutParts& to,
              int64_t from_limit, const Offer& offer) {
  for (size_t cut = 0; cut < from.size(); ++cut) {
    const LayoutPart& part = from[cut];
    const LayoutParts inner(from.begin() + static_cast<ptrdiff_t>(cut) + 1, from.end());
    LayoutParts moved(from.begin(), from.begin() + static_cast<ptrdiff_t>(cut));
    const int64_t room = from_limit / count_of(inner);  // how much of the part that is cut may stay
    if (room < 1) continue;
    int64_t pieces = ceil_div(part.extent, std::min(room, part.extent));
    // Only the outermost digit of an axis may have padding; other digits are cut only by divisors
    // of their extents.
    while (!is_outermost(part, shape) && part.extent % pieces != 0) ++pieces;
    const int64_t kept = ceil_div(part.extent, pieces);
    LayoutParts rest = inner;
    if (kept > 1) rest.insert(rest.begin(), {part.axis, part.divisor, kept});
    if (pieces > 1) moved.push_back({part.axis, part.divisor * kept, pieces});
    moved.insert(moved.end(), to.begin(), to.end());
    offer(std::move(rest), std::move(moved));
  }
}

}  // namespace

bool fits(const Layout& layout, const ImageLimits& limits) {
  return layout.col_count() <= limits.max_width && layout.row_count() <= limits.max_height;
}

std::optional<Layout> best_fold(const Layout& layout, const ImageLimits& limits) {
  if (fits(layout, limits)) return layout;
  std::optional<Layout> best;
  const auto cost = [](const Layout& l) {
    return std::tuple(l.row_count() * l.col_count(), std::max(l.row_count(), l.col_count()));
  };
  const auto offer = [&](LayoutParts rows, LayoutParts cols) {
    Layout folded = layout;
    folded.rows = std::move(rows);
    folded.cols = std::move(cols);
    if (fits(folded, limits) && (!best || cost(folded) < cost(*best))) best = std::move(folded);
  };
  folds_of(layout.shape, layout.rows, layout.cols, limits.max_height,
           [&](auto rest, auto moved) { offer(std::move(rest), std::move(moved)); });
  folds_of(layout.shape, layout.cols, layout.rows, limits.max_width,
           [&](auto rest, auto moved) { offer(std::move(moved), std::move(rest)); });
  return best;
}

}  // namespace texloom::ir
