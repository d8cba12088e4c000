#include "graph/scopes/planes.h"

#include "ir/layout/digits.h"

namespace texloom::graph {

using ir::Layout;
using ir::LayoutPart;

Planes planes_of(const Layout& layout) {
  Planes planes{layout.col_count(), 1, 1};
  for (std::size_t i = 0; i < layout.rows.size(); ++i) {
    const bool innermost = i + 1 == layout.rows.size() && i > 0;
    (innermost ? planes.height : planes.slices) *= layout.rows[i].extent;
  }
  return planes;
}

std::optional<Layout> folded(const Layout& layout, int64_t fold) {
  if (layout.object != ir::MemoryObject::Image2d || fold < 2) return std::nullopt;
  const Planes planes = planes_of(layout);
  if (fold > planes.slices) return std::nullopt;
  // The leading digits of a row are the number of its plane; a row of one digit is a plane.
  const std::size_t digits = layout.rows.size() == 1 ? 1 : layout.rows.size() - 1;
  const LayoutPart cut = layout.rows[digits - 1];
  const int64_t kept = ir::ceil_div(planes.slices, fold);  // rows of planes after the fold
  if (planes.slices != cut.extent) return std::nullopt;
  if (!ir::is_outermost(cut, layout.shape) && cut.extent % fold != 0) return std::nullopt;
  Layout result = layout;
  result.rows.assign(layout.rows.begin() + static_cast<std::ptrdiff_t>(digits), layout.rows.end());
  if (kept > 1) result.rows.insert(result.rows.begin(), {cut.axis, cut.divisor, kept});
  LayoutPart outer{cut.axis, cut.divisor * kept, ir::ceil_div(cut.extent, kept)};
  result.cols.insert(result.cols.begin(), outer);
  return result;
}

}  // namespace texloom::graph
