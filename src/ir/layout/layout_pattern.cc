#include "ir/layout/layout_pattern.h"

#include "support/check.h"

namespace texloom::ir {

Layout layout_for(const LayoutPattern& pattern, const Shape& shape) {
  TL_CHECK(pattern.names.size() == shape.size());
  Layout layout;
  layout.shape = shape;
  layout.object = pattern.object;
  layout.padding = pattern.padding;
  layout.rows = with_extents(pattern.rows, shape);
  layout.cols = with_extents(pattern.cols, shape);
  layout.lanes = with_extents(pattern.lanes, shape);
  return layout;
}

LayoutPattern pattern_of(const Layout& layout, std::vector<std::string> names) {
  LayoutPattern pattern{std::move(names), layout.rows,   layout.cols,
                        layout.lanes,     layout.object, layout.padding};
  for (LayoutParts* parts : {&pattern.rows, &pattern.cols, &pattern.lanes}) {
    for (LayoutPart& part : *parts) part = open_ended(part, layout.shape);
  }
  return pattern;
}

}  // namespace texloom::ir
