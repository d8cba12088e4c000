#include "plan/textures/fold.h"

#include <algorithm>

#include "support/int128.h"

namespace texloom::plan {

FoldedExtent folded(const TextureItem& item, std::int64_t fold) {
  // Products beyond the largest limit are clamped to a value just beyond it.
  const auto product = [](std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(std::min<int128>(static_cast<int128>(a) * b, kMaxExtent + 1));
  };
  return {fold, product(item.width, fold), product(item.height, ceil_div(item.slices, fold))};
}

bool fits(const TextureItem& item, std::int64_t width, std::int64_t height) {
  const std::int64_t rows = height / item.height;  // of planes
  return rows > 0 && folded(item, ceil_div(item.slices, rows)).width <= width;
}

std::vector<FoldedExtent> folds(const TextureItem& item, std::int64_t max_width,
                                std::int64_t max_height) {
  std::vector<FoldedExtent> result;
  if (!fits(item, max_width, max_height)) return result;
  const std::int64_t most_rows = std::min(max_height / item.height, item.slices);  // of planes
  const std::int64_t most_folds = std::min(max_width / item.width, item.slices);
  std::int64_t fold = ceil_div(item.slices, most_rows);
  while (fold <= most_folds) {
    const std::int64_t rows = ceil_div(item.slices, fold);
    result.push_back(folded(item, fold));
    if (rows == 1) break;
    // Go on to the least fold with fewer rows of planes; after many folds, with many fewer rows.
    const std::int64_t skipped = result.size() < kManyFolds ? 1 : 1 + rows / 64;
    fold = ceil_div(item.slices, std::max<std::int64_t>(1, rows - skipped));
  }
  return result;
}

std::int64_t least_texels(const TextureItem& item, const std::vector<FoldedExtent>& folds) {
  if (folds.size() > kManyFolds) return item.width * item.height * item.slices;
  const auto smallest = std::min_element(
      folds.begin(), folds.end(),
      [](const FoldedExtent& a, const FoldedExtent& b) { return a.texels() < b.texels(); });
  return smallest->texels();
}

}  // namespace texloom::plan
