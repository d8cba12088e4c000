// Folds of a tensor: the rectangles that it may take in an image.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/textures/problem.h"

namespace texloom::plan {

struct FoldedExtent {
  std::int64_t fold = 1;
  std::int64_t width = 1;
  std::int64_t height = 1;

  std::int64_t texels() const { return width * height; }
  bool operator==(const FoldedExtent&) const = default;
};

// The extent of `item` folded by `fold`, 1 <= fold <= slices. No limit is checked, but the item's
// extents must not exceed kMaxExtent.
FoldedExtent folded(const TextureItem& item, std::int64_t fold);

// All folds that fit in `max_width` by `max_height` texels, by rising width. A fold that takes
// more columns than another, and as many rows, is left out. Empty if nothing fits.
std::vector<FoldedExtent> folds(const TextureItem& item, std::int64_t max_width,
                                std::int64_t max_height);

// ceil(a / b), for a >= 0 and b > 0.
inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0); }

}  // namespace texloom::plan
