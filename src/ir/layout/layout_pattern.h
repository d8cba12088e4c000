// Layouts for tensors of one rank and any extents. `layout=` gives such a layout to a tensor whose
// extents lowering may find out later; `transform_layout` gives such a layout to a tensor whose
// axes it changes.
#pragma once

#include <string>
#include <vector>

#include "ir/layout/layout.h"
#include "support/source_location.h"

namespace texloom::ir {

struct LayoutPattern {
  std::vector<std::string> names;  // of the axes
  LayoutParts rows, cols, lanes;   // their extents may be kToTheEnd
  MemoryObject object = MemoryObject::Buffer;
  Padding padding = Padding::Undefined;

  bool operator==(const LayoutPattern&) const = default;
};

// The layout of a shape of the pattern's rank, with positive or open extents. find_problem says
// whether its parts make up the axes.
Layout layout_for(const LayoutPattern& pattern, const Shape& shape);
// The pattern that gives this layout for its shape: outermost digits reach to the end of their
// axes.
LayoutPattern pattern_of(const Layout& layout, std::vector<std::string> names);

std::string to_string(const LayoutPattern& pattern);

}  // namespace texloom::ir
