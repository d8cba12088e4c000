#include "plan/textures/fold.h"

#include <algorithm>

#include "support/int128.h"

namespace texloom::plan {

FoldedExtent folded(const TextureItem& item, std::int64_t fold) {
  // Products that exceed the largest limit are all the same: too large.
  const auto product = [](std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(std::min<int128>(static_cast<int128>(a) * b, kMaxExtent));
  };
  return {fold, product(item.width, fold), product(item.height, ceil_div(item.slices, fold))};
}

std::vector<FoldedExtent> folds(const TextureItem& item, std::int64_t max_width,
                                std::int64_t max_height) {
  std::vector<FoldedExtent> result;
  if (item.width > max_width || item.height > max_height) return result;
  const std::int64_t most_rows = std::min(max_height / item.height, item.slices);  // of planes
  const std::int64_t most_folds = std::min(max_width / item.width, item.slices);
  std::int64_t fold = ceil_div(item.slices, most_rows);
  while (fold <= most_folds) {
    const std::int64_t rows = ceil_div(item.slices, fold);
    result.push_back(folded(item, fold));
    if (rows == 1) break;
    fold = ceil_div(item.slices, rows - 1);  // the least fold with fewer rows
  }
  return result;
}

}  // namespace texloom::plan
