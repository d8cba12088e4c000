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

// Whether some fold fits in `width` by `height` texels.
bool fits(const TextureItem& item, std::int64_t width, std::int64_t height);

// The folds that fit in `max_width` by `max_height` texels, by rising width. A fold that takes more
// columns than another fold, and as many rows, is left out. Empty if no fold fits. After the first
// kManyFolds folds, the result contains only a selection.
std::vector<FoldedExtent> folds(const TextureItem& item, std::int64_t max_width,
                                std::int64_t max_height);
inline constexpr std::size_t kManyFolds = 4096;

// A lower bound of the texels of a fold within the limits: the texels of the smallest fold, unless
// there are too many folds to try. At least one fold must fit.
std::int64_t least_texels(const TextureItem& item, const std::vector<FoldedExtent>& folds);

// ceil(a / b), for a >= 0 and b > 0.
inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0); }

}  // namespace texloom::plan
