#include "plan/textures/rectangles.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "plan/textures/problem.h"
#include "plan/textures/random.h"

namespace texloom::plan {
namespace {

using Order = std::vector<std::size_t>;

// An image that is much longer than an item in one axis is rarely a good place for the item.
constexpr std::int64_t kSimilar = 5;
constexpr std::size_t kMostCorners = 64;    // neighbors beside which an item is tried
constexpr std::int64_t kStepsPerItem = 16;  // the cost of an item, besides comparisons

struct Rules {
  bool similar_extents = false;  // images and items differ by at most kSimilar in each axis
  bool only_at_origin = false;   // one live item per image
};

std::int64_t texels(const Rectangle& item) { return item.width * item.height; }

bool similar(std::int64_t wanted, std::int64_t there) { return (there - 1) / kSimilar < wanted; }

Status check(std::span<const Rectangle> items) {
  if (static_cast<std::int64_t>(items.size()) > kMaxItems)
    return make_error(StatusCode::LimitExceeded, "{} items, but at most {} are planned at once",
                      items.size(), kMaxItems);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Rectangle& item = items[i];
    if (item.lifetime.first < 0 || item.lifetime.last < item.lifetime.first)
      return invalid_argument("item {}: lives from {} to {}, but 0 <= first <= last must hold", i,
                              item.lifetime.first, item.lifetime.last);
    if (item.width < 1 || item.height < 1 || item.width > RectangleLimits::kNone / item.height)
      return invalid_argument(
          "item {}: {}x{} texels are not between 1 and the most that can be planned", i, item.width,
          item.height);
  }
  return {};
}

// The largest sum of texels of items that are live together.
std::int64_t live_texels(std::span<const Rectangle> items) {
  std::vector<std::pair<std::int64_t, std::int64_t>> changes;
  for (const Rectangle& item : items) {
    changes.emplace_back(item.lifetime.first, texels(item));
    changes.emplace_back(item.lifetime.last + 1, -texels(item));
  }
  std::sort(changes.begin(), changes.end());  // at equal times, ends come before begins
  std::int64_t live = 0, most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, live += change);
  return most;
}

// Places all items in one order.
class Placing {
 public:
  Placing(std::span<const Rectangle> items, const std::vector<std::vector<std::size_t>>& apart,
          const RectangleLimits& limits, const Rules& rules)
      : items_(items), apart_(apart), limits_(limits), rules_(rules) {
    plan_.places.resize(items.size());
  }

  // `by_birth`: the order is by first operators, so that items that have ended can be forgotten.
  RectanglePlan run(const Order& order, bool by_birth) {
    is_placed_.assign(items_.size(), false);
    for (const std::size_t item : order) {
      if (by_birth) forget_before(items_[item].lifetime.first);
      place(item);
    }
    for (const RectangleImage& image : plan_.images) plan_.texels += image.texels();
    return std::move(plan_);
  }

 private:
  struct Choice {
    RectanglePlace place;
    RectangleImage image;  // the image after the item is placed
    std::int64_t added = 0;
    std::int64_t wasted = 0;

    bool operator<(const Choice& other) const {
      return std::tie(added, wasted, place.image, place.y, place.x) <
             std::tie(other.added, other.wasted, other.place.image, other.place.y, other.place.x);
    }
  };

  void forget_before(std::int64_t time) {
    for (std::vector<std::size_t>& items : contents_) {
      std::erase_if(items, [&](std::size_t i) { return items_[i].lifetime.last < time; });
    }
  }

  void place(std::size_t item) {
    std::optional<Choice> best;
    banned_.assign(plan_.images.size(), false);
    for (const std::size_t other : apart_[item]) {
      if (is_placed_[other]) banned_[plan_.places[other].image] = true;
    }
    plan_.steps +=
        kStepsPerItem + static_cast<std::int64_t>(apart_[item].size() + plan_.images.size());
    for (std::size_t image = 0; image < plan_.images.size(); ++image) {
      if (!banned_[image]) try_image(item, image, best);
    }
    if (!best) best = in_new_image(item);
    if (best->place.image == plan_.images.size()) {
      plan_.images.emplace_back();
      contents_.emplace_back();
    }
    plan_.images[best->place.image] = best->image;
    plan_.places[item] = best->place;
    contents_[best->place.image].push_back(item);
    is_placed_[item] = true;
  }

  Choice in_new_image(std::size_t item) const {
    const Rectangle& wanted = items_[item];
    return {.place = {.image = plan_.images.size()},
            .image = {wanted.width, wanted.height, wanted.exact}};
  }

  void try_image(std::size_t item, std::size_t image, std::optional<Choice>& best) {
    neighbors_.clear();
    for (const std::size_t other : contents_[image]) {
      if (items_[other].lifetime.meets(items_[item].lifetime)) neighbors_.push_back(other);
    }
    plan_.steps += static_cast<std::int64_t>(contents_[image].size());
    try_place(item, {image, 0, 0}, best);
    if (items_[item].at_origin || items_[item].exact || rules_.only_at_origin) return;
    for (std::size_t n = 0; n < std::min(neighbors_.size(), kMostCorners); ++n) {
      const Rectangle& other = items_[neighbors_[n]];
      const RectanglePlace& at = plan_.places[neighbors_[n]];
      try_place(item, {image, at.x + other.width, at.y}, best);
      try_place(item, {image, at.x, at.y + other.height}, best);
      if (at.y > 0) try_place(item, {image, at.x + other.width, 0}, best);
      if (at.x > 0) try_place(item, {image, 0, at.y + other.height}, best);
    }
  }

  void try_place(std::size_t item, const RectanglePlace& place, std::optional<Choice>& best) {
    const Rectangle& wanted = items_[item];
    const RectangleImage& there = plan_.images[place.image];
    Choice choice{place, there};
    choice.image.width = std::max(there.width, place.x + wanted.width);
    choice.image.height = std::max(there.height, place.y + wanted.height);
    if (!has_room_for(there, choice.image)) return;
    choice.added = choice.image.texels() - there.texels();
    choice.wasted = choice.image.texels() - texels(wanted);
    if ((best && !(choice < *best)) || !may_become(there, choice.image, wanted)) return;
    plan_.steps += static_cast<std::int64_t>(neighbors_.size());
    const bool is_free = std::none_of(neighbors_.begin(), neighbors_.end(), [&](std::size_t other) {
      return overlap(wanted, place, other);
    });
    if (is_free) best = choice;
  }

  // Whether an image may grow to this extent. Must be checked before the product of the extent's
  // width and height is computed, which may exceed 64 bits.
  bool has_room_for(const RectangleImage& there, const RectangleImage& image) const {
    if (image.width == there.width && image.height == there.height) return true;
    return image.width <= limits_.max_width && image.height <= limits_.max_height &&
           image.width <= std::min(limits_.max_texels, RectangleLimits::kNone) / image.height;
  }

  bool may_become(const RectangleImage& there, const RectangleImage& image,
                  const Rectangle& wanted) const {
    const bool grows = image.texels() > there.texels();
    if (wanted.exact && !(there.exact && there.texels() == texels(wanted) && !grows)) return false;
    if (rules_.similar_extents &&
        !(similar(wanted.width, image.width) && similar(wanted.height, image.height)))
      return false;
    if (!grows) return true;
    if (rules_.similar_extents &&
        !(similar(there.width, image.width) && similar(there.height, image.height)))
      return false;
    // If the growth is at least the item's area, a new image is as good.
    return !there.exact && image.texels() - there.texels() < texels(wanted);
  }

  bool overlap(const Rectangle& a, const RectanglePlace& at, std::size_t other) const {
    const Rectangle& b = items_[other];
    const RectanglePlace& there = plan_.places[other];
    return at.x < there.x + b.width && there.x < at.x + a.width && at.y < there.y + b.height &&
           there.y < at.y + a.height;
  }

  std::span<const Rectangle> items_;
  const std::vector<std::vector<std::size_t>>& apart_;
  const RectangleLimits& limits_;
  const Rules rules_;
  RectanglePlan plan_;
  std::vector<bool> is_placed_;
  std::vector<std::vector<std::size_t>> contents_;  // for each image, items that still matter
  std::vector<bool> banned_;                        // images that the current item may not share
  std::vector<std::size_t> neighbors_;  // items of an image that are live with the current item
};

class Planning {
 public:
  Planning(std::span<const Rectangle> items, std::span<const Separation> separations,
           const RectangleLimits& limits, const Effort& effort)
      : items_(items), limits_(limits), budget_(effort), goal_(live_texels(items)) {
    apart_.resize(items.size());
    for (const Separation& pair : separations) {
      apart_[pair.first].push_back(pair.second);
      apart_[pair.second].push_back(pair.first);
    }
  }

  RectanglePlan run() {
    const auto birth = [&](std::size_t i) { return std::tuple(items_[i].lifetime.first); };
    attempt(sorted(birth), {.similar_extents = true, .only_at_origin = true}, true);
    attempt(sorted(birth), {}, true);
    if (!pays_for_an_order()) return take();
    attempt(sorted([&](std::size_t i) { return std::tuple(-texels(items_[i])); }), {}, false);
    attempt(
        sorted([&](std::size_t i) { return std::tuple(!items_[i].at_origin, -texels(items_[i])); }),
        {}, false);
    improve();
    return take();
  }

 private:
  // An order by the key, but with exact items first, as they determine the extents of their images.
  template <class Key>
  Order sorted(const Key& key) const {
    Order order(items_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::tuple_cat(std::tuple(!items_[a].exact), key(a)) <
             std::tuple_cat(std::tuple(!items_[b].exact), key(b));
    });
    return order;
  }

  bool is_over() const { return budget_.exhausted() || (has_best_ && best_.texels <= goal_); }

  // Whether enough steps are left for an order that is not by first operators; such an order
  // compares all pairs of items.
  bool pays_for_an_order() const {
    const auto count = static_cast<std::int64_t>(items_.size());
    return !is_over() && count * count <= budget_.left();
  }

  bool attempt(const Order& order, const Rules& rules, bool by_birth) {
    if (has_best_ && is_over()) return false;
    // With exact items, which go first, the order is not by first operators.
    by_birth = by_birth && std::none_of(items_.begin(), items_.end(),
                                        [](const Rectangle& item) { return item.exact; });
    RectanglePlan plan = Placing(items_, apart_, limits_, rules).run(order, by_birth);
    budget_.spend(plan.steps);
    const auto cost = [](const RectanglePlan& each) {
      return std::pair(each.texels, each.images.size());
    };
    if (has_best_ && cost(plan) > cost(best_)) return false;
    best_ = std::move(plan);
    best_order_ = order;
    has_best_ = true;
    return true;
  }

  // Moves items forward in the best order; continues from a new order that is at least as good.
  void improve() {
    if (items_.size() < 2) return;
    Random random(1);
    while (pays_for_an_order()) {
      Order order = best_order_;
      const std::size_t from = 1 + random.below(order.size() - 1);
      const std::size_t to = random.below(from);
      const auto at = [&](std::size_t i) { return order.begin() + static_cast<std::ptrdiff_t>(i); };
      std::rotate(at(to), at(from), at(from + 1));
      attempt(order, {}, false);
    }
  }

  RectanglePlan take() {
    best_.steps = budget_.spent();
    return std::move(best_);
  }

  std::span<const Rectangle> items_;
  const RectangleLimits& limits_;
  Budget budget_;
  std::int64_t goal_;
  std::vector<std::vector<std::size_t>> apart_;
  RectanglePlan best_;
  Order best_order_;
  bool has_best_ = false;
};

}  // namespace

Result<RectanglePlan> place_rectangles(std::span<const Rectangle> items,
                                       std::span<const Separation> separations,
                                       const RectangleLimits& limits, const Effort& effort) {
  TL_RETURN_IF_ERROR(check(items));
  TL_RETURN_IF_ERROR(check_separations(separations, items.size()));
  if (items.empty()) return RectanglePlan{};
  return Planning(items, separations, limits, effort).run();
}

}  // namespace texloom::plan
