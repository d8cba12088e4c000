// Folds: the same tensor in a rectangle of other proportions, when an image's limits are exceeded.
//
// A fold cuts one part of the rows and moves what is above the cut in front of the columns, or the
// other way round: a layout like any other.
#pragma once

#include "ir/layout/layout.h"

namespace texloom::ir {

// An image's limits, in texels.
struct ImageLimits {
  int64_t max_width = 0, max_height = 0;
};

bool fits(const Layout& layout, const ImageLimits& limits);

// The same layout when it fits; else the fold of least area (then the most square one) that
// does; nothing when there is none.
std::optional<Layout> best_fold(const Layout& layout, const ImageLimits& limits);

}  // namespace texloom::ir
