// Folds: rectangles of other proportions for a tensor that exceeds an image's limits.
//
// A fold cuts one part of the rows and moves the digits above the cut in front of the columns.
// Other folds move digits from the columns to the rows. The result is a layout like any other.
#pragma once

#include "ir/layout/layout.h"

namespace texloom::ir {

// An image's limits, in texels.
struct ImageLimits {
  int64_t max_width = 0, max_height = 0;
};

bool fits(const Layout& layout, const ImageLimits& limits);

// The layout itself if it fits; else the fold that fits and has the least area (then the most
// square one); nullopt if there is none.
std::optional<Layout> best_fold(const Layout& layout, const ImageLimits& limits);

}  // namespace texloom::ir
