#include "plan/textures/search.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "plan/textures/random.h"
#include "plan/textures/repair.h"

namespace texloom::plan {
namespace {

constexpr std::size_t kImages = 4;      // initial images; empty images cost nothing
constexpr std::size_t kWideItems = 12;  // the number of largest items that suggest widths
constexpr std::size_t kWidths = 48;     // widths that are tried
constexpr std::int64_t kEnough = 500;   // recipes change only if steps suffice for these packings
constexpr std::int64_t kSlices = 60;    // the parts into which the steps are divided
constexpr std::size_t kStarts = 6;      // the best first packings, which are improved in turn

std::vector<int> by_size(const TextureInstance& instance) {
  std::vector<int> order(instance.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return instance.least_texels[a] > instance.least_texels[b];
  });
  return order;
}

// Widths at which the largest items waste little, beginning with the largest item.
std::vector<std::int64_t> likely_widths(const TextureInstance& instance,
                                        const std::vector<int>& order) {
  std::vector<std::int64_t> widths;
  const auto add = [&](std::int64_t width) {
    if (std::find(widths.begin(), widths.end(), width) == widths.end()) widths.push_back(width);
  };
  for (std::size_t i = 0; i < std::min(order.size(), kWideItems); ++i) {
    for (const FoldedExtent& fold : instance.folds[order[i]]) {
      const std::int64_t least = instance.least_texels[order[i]];
      if (fold.texels() <= least + least / 50) add(fold.width);
    }
  }
  return widths;
}

class Local {
 public:
  Local(const TextureInstance& instance, const SearchLimits& limits)
      : instance_(instance),
        limits_(limits),
        packer_(instance),
        sizes_(by_size(instance)),
        widths_(likely_widths(instance, sizes_)) {
    steps_per_item_ = std::max<std::int64_t>(
        1000, limits.steps / 10 / static_cast<std::int64_t>(instance.size()));
  }

  Packing run() {
    first_packings();
    for (std::size_t round = 0; !is_over(); ++round) {
      Start& start = starts_[round % starts_.size()];
      if (packs_enough_) improve(start, limits_.steps / kSlices);
      if (round % starts_.size() + 1 == starts_.size()) repair();
    }
    return std::move(best_);
  }

 private:
  struct Start {
    PackingRecipe recipe;
    Packing packing;
    std::size_t fails = 0;
  };

  bool is_over() const {
    return best_.texels <= limits_.goal || packer_.steps() + repair_steps_ >= limits_.steps ||
           (limits_.is_over_early && limits_.is_over_early());
  }

  Packing pack(const PackingRecipe& recipe, std::int64_t too_many) {
    Packing packing = packer_.pack(recipe, steps_per_item_, too_many);
    if (!has_best_ || packing.texels < best_.texels) {
      best_ = packing;
      has_best_ = true;
    }
    return packing;
  }

  // Tries one width for all images, then changes the width of one image in the best of these
  // packings.
  void first_packings() {
    const std::int64_t none = std::numeric_limits<std::int64_t>::max();
    PackingRecipe recipe{sizes_, {}, std::vector<int>(instance_.size(), -1)};
    for (std::size_t w = 0; w < std::min(widths_.size(), kWidths); ++w) {
      recipe.widths.assign(kImages, widths_[w]);
      for (const bool adds_images : {true, false}) {
        recipe.adds_images = adds_images;
        starts_.push_back({recipe, pack(recipe, none)});
      }
      if (is_over() || packer_.steps() > limits_.steps / 4) break;
    }
    const std::int64_t steps_of_one = packer_.steps() / static_cast<std::int64_t>(starts_.size());
    packs_enough_ = limits_.steps / kEnough > steps_of_one;
    std::stable_sort(starts_.begin(), starts_.end(), [](const Start& a, const Start& b) {
      return a.packing.texels < b.packing.texels;
    });
    if (starts_.size() > kStarts) starts_.resize(kStarts);
  }

  // A random item that determines the height of its image: one that ends at the image's last row.
  int random_culprit(const Packing& packing) {
    culprits_.clear();
    for (std::size_t i = 0; i < packing.items.size(); ++i) {
      const PackedItem& place = packing.items[i];
      const PackedImage& image = packing.images[place.image];
      if (image.fixed_height == 0 && place.y + place.extent.height == image.height) {
        culprits_.push_back(static_cast<int>(i));
      }
    }
    if (culprits_.empty()) return static_cast<int>(random_.below(instance_.size()));
    return culprits_[random_.below(culprits_.size())];
  }

  void change(PackingRecipe& recipe, const Packing& packing) {
    const int culprit = random_culprit(packing);
    auto& order = recipe.order;
    const auto at = std::find(order.begin(), order.end(), culprit);
    const auto position = static_cast<std::size_t>(at - order.begin());
    switch (random_.below(8)) {
      case 0:
      case 1:
      case 2: {  // the culprit moves to an earlier position
        const std::size_t to = random_.below(position + 1);
        std::rotate(order.begin() + static_cast<std::ptrdiff_t>(to), at, at + 1);
        break;
      }
      case 3: {  // two items change places
        const std::size_t other = random_.below(order.size());
        std::swap(order[position], order[other]);
        break;
      }
      case 4: {
        const std::size_t a = random_.below(order.size());
        const std::size_t b = random_.below(a + 1);
        std::rotate(order.begin() + static_cast<std::ptrdiff_t>(b),
                    order.begin() + static_cast<std::ptrdiff_t>(a),
                    order.begin() + static_cast<std::ptrdiff_t>(a) + 1);
        break;
      }
      case 5:
        if (random_.below(8) == 0) recipe.adds_images = !recipe.adds_images;
        recipe.image[culprit] = static_cast<int>(random_.below(packing.images.size() + 1)) - 1;
        break;
      case 6: {
        const std::size_t i = random_.below(instance_.size());
        recipe.image[i] = recipe.image[i] >= 0 ? -1 : packing.items[i].image;
        break;
      }
      default:
        recipe.widths[random_.below(recipe.widths.size())] = widths_[random_.below(widths_.size())];
    }
  }

  void improve(Start& start, std::int64_t steps) {
    const std::int64_t stop = packer_.steps() + steps;
    while (packer_.steps() < stop && !is_over()) {
      PackingRecipe recipe = start.recipe;
      for (std::size_t n = 1 + random_.below(2); n > 0; --n) change(recipe, start.packing);
      const std::int64_t slack = start.packing.texels / 1000 * (random_.below(4) == 0 ? 4 : 0);
      Packing packing = pack(recipe, start.packing.texels + slack + 1);
      if (packing.texels > start.packing.texels + slack) continue;
      start.recipe = std::move(recipe);
      start.packing = std::move(packing);
    }
  }

  // Makes the images of a packing smaller, with as many steps as a round of improvements takes. If
  // the packing has not become smaller, the next call continues with another packing.
  void repair() {
    if (!repairer_) repairer_.emplace(instance_, best_, random_.next());
    const std::int64_t texels = repairer_->best().texels;
    const std::int64_t before = repairer_->steps();
    const auto slices = static_cast<std::int64_t>(starts_.size());
    repairer_->run(limits_.goal, slices * (limits_.steps / kSlices) + 1, limits_.is_over_early);
    repair_steps_ += repairer_->steps() - before + 1;
    if (repairer_->best().texels < best_.texels) best_ = repairer_->best();
    if (repairer_->best().texels < texels) return;
    const std::size_t next = random_.below(starts_.size() + 1);
    repairer_.emplace(instance_, next < starts_.size() ? starts_[next].packing : best_,
                      random_.next());
  }

  const TextureInstance& instance_;
  const SearchLimits& limits_;
  Packer packer_;
  std::vector<int> sizes_;
  std::vector<std::int64_t> widths_;
  std::int64_t steps_per_item_ = 0;
  std::vector<Start> starts_;
  std::vector<int> culprits_;
  Packing best_;
  bool has_best_ = false;
  bool packs_enough_ = false;  // whether the steps suffice for kEnough packings
  std::optional<Repairer> repairer_;
  std::int64_t repair_steps_ = 0;
  Random random_{1};
};

}  // namespace

Packing search(const TextureInstance& instance, const SearchLimits& limits) {
  return Local(instance, limits).run();
}

}  // namespace texloom::plan
