#include "plan/textures/packing.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "support/check.h"

namespace texloom::plan {

bool Packer::Choice::operator<(const Choice& other) const {
  return std::tie(growth, waste, top, place.image, place.x) <
         std::tie(other.growth, other.waste, other.top, other.place.image, other.place.x);
}

Packer::Packer(const TextureInstance& instance) : instance_(instance) {}

Packing Packer::pack(const PackingRecipe& recipe, std::int64_t steps_per_item,
                     std::int64_t too_many) {
  packing_ = {};
  packing_.items.resize(instance_.size());
  for (const std::int64_t width : recipe.widths) packing_.images.push_back({width, 0, 0});
  for (const int item : recipe.order) {
    if (instance_.must_be_exact[item]) place_exact(item);
  }
  budget_ = steps_per_item;
  for (const int item : recipe.order) {
    if (instance_.must_be_exact[item]) continue;
    place(item, recipe.image[item], recipe.adds_images);
    if (packing_.texels < too_many) continue;
    packing_.texels = too_many;
    break;
  }
  return packing_;
}

bool Packer::may_share(int item, int image) const {
  return std::none_of(instance_.apart[item].begin(), instance_.apart[item].end(),
                      [&](int other) { return packing_.items[other].image == image; });
}

// Exact items of equal extents may share an image if they are live at different times.
void Packer::place_exact(int item) {
  const FoldedExtent extent = folded(instance_.items[item], 1);
  const auto is_same = [&](const PackedImage& image) {
    return image.width == extent.width && image.fixed_height == extent.height;
  };
  int image = 0;
  while (image < static_cast<int>(packing_.images.size()) &&
         !(is_same(packing_.images[image]) && may_share(item, image))) {
    ++image;
  }
  const bool is_new = image == static_cast<int>(packing_.images.size());
  if (is_new) packing_.images.push_back({extent.width, 0, extent.height});
  Choice choice;
  choice.place = {image, 0, 0, extent};
  choice.growth = is_new ? extent.texels() : 0;
  put(item, choice);
}

// Finds the placed items that are live together with this item, ordered by image and then by rising
// y, and the images that this item may not share.
void Packer::look_around(int item) {
  near_.clear();
  for (const int other : instance_.meets[item]) {
    const PackedItem& place = packing_.items[other];
    if (place.image >= 0) near_.push_back({place.image, place.y, other});
  }
  std::sort(near_.begin(), near_.end());
  banned_.assign(packing_.images.size(), false);
  for (const int other : instance_.apart[item]) {
    if (packing_.items[other].image >= 0) banned_[packing_.items[other].image] = true;
  }
  steps_ += static_cast<std::int64_t>(instance_.meets[item].size() + instance_.apart[item].size() +
                                      packing_.images.size() / 4);
}

void Packer::place(int item, int wanted, bool adds_images) {
  look_around(item);
  Choice best;
  best.growth = std::numeric_limits<std::int64_t>::max();
  const int count = static_cast<int>(packing_.images.size());
  if (wanted >= 0 && wanted < count && !banned_[wanted]) try_image(item, wanted, budget_, best);
  if (best.place.image < 0) {
    const std::int64_t stop = steps_ + budget_;
    for (int image = 0; image < count; ++image) {
      if (steps_ > stop && best.place.image >= 0) break;
      if (!banned_[image]) try_image(item, image, budget_ / count, best);
    }
    if (best.place.image < 0 || (adds_images && best.growth > 0)) try_new_image(item, best);
  }
  TL_CHECK(best.place.image >= 0);
  put(item, best);
}

void Packer::try_image(int item, int image, std::int64_t budget, Choice& best) {
  const PackedImage& target = packing_.images[image];
  neighbors_.clear();
  for (auto other = std::lower_bound(near_.begin(), near_.end(), Near{image, 0, 0});
       other != near_.end() && other->image == image; ++other) {
    neighbors_.push_back(other->item);
  }
  ++steps_;
  const std::int64_t stop = steps_ + budget;
  const std::int64_t max_height =
      target.fixed_height > 0 ? target.fixed_height : instance_.max_height;
  // Wide folds first: they leave whole rows free.
  const std::vector<FoldedExtent>& folds = instance_.folds[item];
  for (std::size_t f = folds.size(); f-- > 0;) {
    const FoldedExtent& extent = folds[f];
    if (extent.width > target.width || extent.height > max_height) continue;
    columns_.assign(1, 0);
    for (const int other : neighbors_) {
      const PackedItem& place = packing_.items[other];
      columns_.push_back(place.x + place.extent.width);
      columns_.push_back(place.x - extent.width);
    }
    columns_.push_back(target.width - extent.width);
    std::sort(columns_.begin(), columns_.end());
    columns_.erase(std::unique(columns_.begin(), columns_.end()), columns_.end());
    for (const std::int64_t x : columns_) {
      if (x >= 0 && x <= target.width - extent.width) try_column(item, image, extent, x, best);
    }
    if (steps_ > stop && best.place.image >= 0) return;
  }
}

// Tries the lowest gap between the neighbors in the columns from `x` on.
void Packer::try_column(int item, int image, const FoldedExtent& extent, std::int64_t x,
                        Choice& best) {
  const PackedImage& target = packing_.images[image];
  std::int64_t y = 0;
  for (const int other : neighbors_) {
    const PackedItem& place = packing_.items[other];
    ++steps_;
    if (place.x >= x + extent.width || place.x + place.extent.width <= x) continue;
    if (place.y >= y + extent.height) break;
    y = std::max(y, place.y + place.extent.height);
  }
  ++steps_;
  const std::int64_t top = y + extent.height;
  if (top > (target.fixed_height > 0 ? target.fixed_height : instance_.max_height)) return;
  Choice choice;
  choice.place = {image, x, y, extent};
  choice.top = top;
  if (target.fixed_height == 0) {
    choice.growth = target.width * std::max<std::int64_t>(0, top - target.height);
  }
  choice.waste = extent.texels() - instance_.least_texels[item];
  if (choice < best) best = choice;
}

void Packer::try_new_image(int item, Choice& best) {
  for (const FoldedExtent& extent : instance_.folds[item]) {
    Choice choice;
    choice.place = {static_cast<int>(packing_.images.size()), 0, 0, extent};
    choice.growth = extent.texels();
    choice.top = extent.height;
    choice.waste = extent.texels() - instance_.least_texels[item];
    if (choice < best) best = choice;
  }
}

void Packer::put(int item, const Choice& choice) {
  steps_ += 16;  // the cost of placing an item, besides examining rectangles
  const int image = choice.place.image;
  if (image == static_cast<int>(packing_.images.size())) {
    packing_.images.push_back({choice.place.extent.width, 0, 0});
  }
  PackedImage& target = packing_.images[image];
  target.height = std::max(target.height, choice.place.y + choice.place.extent.height);
  packing_.items[item] = choice.place;
  packing_.texels += choice.growth;
}

}  // namespace texloom::plan
