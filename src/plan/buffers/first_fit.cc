#include "plan/buffers/first_fit.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <utility>

namespace texloom::plan {

namespace {

using Order = std::vector<std::int32_t>;

// One step of the budget takes about as long as examining this many placed items.
constexpr std::int64_t kLooksPerStep = 64;

class FirstFit {
 public:
  FirstFit(const Stacking& stacking, std::int64_t steps, Budget& budget)
      : stacking_(stacking), steps_(steps), budget_(budget) {}

  std::vector<std::int64_t> run();

 private:
  bool spend();
  bool at_bound() const { return best_height_ <= stacking_.lower_bound; }
  std::int64_t place(const Order& order);
  bool keep_if_better(const Order& order, std::int64_t top);
  void improve();
  Order with_top_moved(std::minstd_rand& random) const;

  const Stacking& stacking_;
  std::int64_t steps_;
  Budget& budget_;
  std::vector<std::int32_t> placed_;  // sorted by offset
  std::vector<std::int64_t> offsets_;
  Order best_order_;
  std::vector<std::int64_t> best_;
  std::int64_t best_height_ = 0;
};

std::int64_t FirstFit::place(const Order& order) {
  const std::vector<StackedItem>& items = stacking_.items;
  placed_.clear();
  offsets_.assign(items.size(), 0);
  std::int64_t top = 0;
  for (const std::int32_t i : order) {
    std::int64_t offset = 0;
    for (const std::int32_t below : placed_) {
      if (!items[below].overlaps(items[i])) continue;
      if (offsets_[below] - offset >= items[i].size) break;
      offset = std::max(offset, round_up(offsets_[below] + items[below].size, items[i].alignment));
    }
    offsets_[i] = offset;
    top = std::max(top, offset + items[i].size);
    const auto behind =
        std::upper_bound(placed_.begin(), placed_.end(), offset,
                         [&](std::int64_t o, std::int32_t j) { return o < offsets_[j]; });
    placed_.insert(behind, i);
  }
  return top;
}

// Takes the steps of one call of place() from the budget.
bool FirstFit::spend() {
  const auto count = static_cast<std::int64_t>(stacking_.items.size());
  const std::int64_t cost = 1 + count + count * count / (2 * kLooksPerStep);
  if (cost > steps_) return false;
  steps_ -= cost;
  return budget_.spend(cost);
}

// Also keeps an order whose height equals the best one, so that improve() can cross plateaus.
bool FirstFit::keep_if_better(const Order& order, std::int64_t top) {
  if (!best_.empty() && top > best_height_) return false;
  best_height_ = top;
  best_ = offsets_;
  best_order_ = order;
  return true;
}

// The best order with one item moved forward: an item that ends at the plan's height, or an item
// that overlaps such an item.
Order FirstFit::with_top_moved(std::minstd_rand& random) const {
  const std::vector<StackedItem>& items = stacking_.items;
  std::vector<std::size_t> movable;  // positions in the order
  for (std::size_t position = 1; position < best_order_.size(); ++position) {
    const std::int32_t i = best_order_[position];
    if (best_[i] + items[i].size == best_height_) movable.push_back(position);
  }
  Order order = best_order_;
  if (movable.empty()) return order;
  std::size_t from = movable[random() % movable.size()];
  if (random() % 4 == 0) {
    const StackedItem& top = items[order[from]];
    std::vector<std::size_t> beside;
    for (std::size_t position = 1; position < order.size(); ++position) {
      if (items[order[position]].overlaps(top)) beside.push_back(position);
    }
    from = beside[random() % beside.size()];
  }
  const std::size_t to = random() % from;
  std::rotate(order.begin() + to, order.begin() + from, order.begin() + from + 1);
  return order;
}

void FirstFit::improve() {
  std::minstd_rand random(1);
  while (!at_bound() && spend()) {
    const Order order = with_top_moved(random);
    keep_if_better(order, place(order));
  }
}

std::vector<std::int64_t> FirstFit::run() {
  const std::vector<StackedItem>& items = stacking_.items;
  if (items.empty()) return {};
  const auto area = [&](std::int32_t i) {
    return static_cast<double>(items[i].size) * (static_cast<double>(items[i].length) + 1);
  };
  Order order(items.size());
  const auto try_sorted = [&](auto before) {
    if (!best_.empty() && (at_bound() || !spend())) return;
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), before);
    keep_if_better(order, place(order));
  };
  try_sorted([&](std::int32_t a, std::int32_t b) { return items[a].size > items[b].size; });
  try_sorted([&](std::int32_t a, std::int32_t b) { return items[a].length > items[b].length; });
  try_sorted([&](std::int32_t a, std::int32_t b) { return area(a) > area(b); });
  try_sorted([&](std::int32_t a, std::int32_t b) { return items[a].begin < items[b].begin; });
  improve();
  return best_;
}

}  // namespace

std::vector<std::int64_t> first_fit(const Stacking& stacking, std::int64_t steps, Budget& budget) {
  return FirstFit(stacking, steps, budget).run();
}

}  // namespace texloom::plan
