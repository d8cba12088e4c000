#include "plan/textures/simple_rules.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace texloom::plan {
namespace {

FoldedExtent smallest_fold(const TextureInstance& instance, int item) {
  if (instance.must_be_exact[item]) return folded(instance.items[item], 1);
  const std::vector<FoldedExtent>& folds = instance.folds[item];
  return *std::min_element(
      folds.begin(), folds.end(),
      [](const FoldedExtent& a, const FoldedExtent& b) { return a.texels() < b.texels(); });
}

class Pools {
 public:
  explicit Pools(const TextureInstance& instance) : instance_(instance) {
    packing_.items.resize(instance.size());
  }

  Packing run() {
    std::vector<int> births(instance_.size());
    std::iota(births.begin(), births.end(), 0);
    std::stable_sort(births.begin(), births.end(), [&](int a, int b) {
      return instance_.items[a].lifetime.first < instance_.items[b].lifetime.first;
    });
    for (const int item : births) place(item);
    for (const PackedImage& image : packing_.images) packing_.texels += image.texels();
    return std::move(packing_);
  }

 private:
  void place(int item) {
    const FoldedExtent extent = instance_.folds[item].front();
    const bool is_exact = instance_.must_be_exact[item];
    std::tuple best(extent.texels(), std::int64_t{0}, static_cast<int>(packing_.images.size()));
    for (int i = 0; i < static_cast<int>(packing_.images.size()); ++i) {
      const PackedImage& image = packing_.images[i];
      if (users_[i].last >= instance_.items[item].lifetime.first) continue;
      const std::int64_t width = std::max(image.width, extent.width);
      const std::int64_t height = std::max(image.height, extent.height);
      const std::int64_t added = width * height - image.texels();
      if ((is_exact || image.fixed_height > 0) &&
          !(is_exact && image.fixed_height == extent.height && image.width == extent.width)) {
        continue;
      }
      best = std::min(best, std::tuple(added, width * height - extent.texels(), i));
    }
    const int image = std::get<2>(best);
    if (image == static_cast<int>(packing_.images.size())) {
      packing_.images.push_back({0, 0, is_exact ? extent.height : 0});
      users_.emplace_back();
    }
    PackedImage& target = packing_.images[image];
    target.width = std::max(target.width, extent.width);
    target.height = std::max(target.height, extent.height);
    users_[image] = instance_.items[item].lifetime;
    packing_.items[item] = {image, 0, 0, extent};
  }

  const TextureInstance& instance_;
  Packing packing_;
  std::vector<Lifetime> users_;  // for each image, the lifetime of its last tensor
};

}  // namespace

Packing one_image_per_tensor(const TextureInstance& instance) {
  Packing packing;
  for (int i = 0; i < static_cast<int>(instance.size()); ++i) {
    const FoldedExtent extent = smallest_fold(instance, i);
    packing.images.push_back({extent.width, extent.height, 0});
    packing.items.push_back({i, 0, 0, extent});
    packing.texels += extent.texels();
  }
  return packing;
}

Packing grow_and_reuse(const TextureInstance& instance) { return Pools(instance).run(); }

}  // namespace texloom::plan
