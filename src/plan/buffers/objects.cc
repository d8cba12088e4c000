#include "plan/buffers/objects.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "plan/buffers/object_bound.h"

namespace texloom::plan {

namespace {

// The search is recursive, with one call for each item. The sets of items take memory proportional
// to the square of the number of items, so they are made only for a search.
constexpr std::size_t kMaxSearchedItems = 2048;

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

// A set of items, as bits: the search intersects sets at each step.
class ItemSet {
 public:
  explicit ItemSet(std::size_t count) : words_((count + kBits - 1) / kBits) {}

  void insert(std::size_t item) { words_[item / kBits] |= bit(item); }
  void erase(std::size_t item) { words_[item / kBits] &= ~bit(item); }

  bool meets(const ItemSet& other) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if ((words_[i] & other.words_[i]) != 0) return true;
    }
    return false;
  }

 private:
  static constexpr std::size_t kBits = 64;
  static std::uint64_t bit(std::size_t item) { return std::uint64_t{1} << (item % kBits); }

  std::vector<std::uint64_t> words_;
};

struct Object {
  std::int64_t size = 0;
  std::vector<std::size_t> items;
  ItemSet set;  // the same items, for a search
};

// The first `open` objects hold items. Closed objects keep their memory, since the search opens and
// closes objects at most of its steps.
struct Assignment {
  std::vector<std::size_t> objects;  // the object of each item
  std::vector<Object> contents;
  std::size_t open = 0;
  std::int64_t bytes = 0;

  explicit Assignment(std::size_t count) : objects(count, kNone) {}
  bool has_sets() const { return objects.size() <= kMaxSearchedItems; }

  void put(std::size_t item, std::size_t object, std::int64_t size) {
    if (object == contents.size())
      contents.push_back({0, {}, ItemSet(has_sets() ? objects.size() : 0)});
    Object& given = contents[object];
    if (object == open) {
      ++open;
      given.size = 0;
    }
    bytes += std::max(size, given.size) - given.size;
    given.size = std::max(size, given.size);
    given.items.push_back(item);
    if (has_sets()) given.set.insert(item);
    objects[item] = object;
  }

  // Takes the last item out of an object; only the last open object may become empty.
  void take(std::size_t object) {
    Object& given = contents[object];
    given.set.erase(given.items.back());
    given.items.pop_back();
    if (given.items.empty()) --open;
  }
};

class ObjectPlanning {
 public:
  ObjectPlanning(std::span<const BufferItem> items, std::span<const Separation> separations,
                 const Effort& effort)
      : items_(items),
        separated_(items.size()),
        budget_(effort),
        least_(least_object_sizes(items)),
        least_from_(least_.size() + 1),
        best_(items.size()) {
    for (const auto& [a, b] : separations) {
      separated_[a].push_back(b);
      separated_[b].push_back(a);
    }
    if (best_.has_sets()) find_sets_apart();
    for (std::size_t k = least_.size(); k-- > 0;) least_from_[k] = least_from_[k + 1] + least_[k];
    by_size_.resize(items.size());
    std::iota(by_size_.begin(), by_size_.end(), std::size_t{0});
    std::stable_sort(by_size_.begin(), by_size_.end(),
                     [&](std::size_t a, std::size_t b) { return items_[a].size > items_[b].size; });
  }

  ObjectPlan run(bool deterministic);

 private:
  void find_sets_apart();
  bool are_apart(std::size_t a, std::size_t b) const;
  bool may_hold(const Object& object, std::size_t item) const;
  std::int64_t idle_time(const Object& object, std::size_t item) const;
  Assignment assign_in(const std::vector<std::size_t>& order) const;
  std::vector<std::size_t> by_breadth() const;
  void keep_if_better(const Assignment& found);
  bool search(std::size_t depth);
  bool decide(std::size_t depth, std::size_t object);
  std::int64_t least_bytes_of_rest() const;

  std::span<const BufferItem> items_;
  std::vector<std::vector<std::size_t>> separated_;
  std::vector<ItemSet> apart_;  // by item, for a search: the items that may not be in its object
  Budget budget_;
  std::vector<std::int64_t> least_;
  std::vector<std::int64_t> least_from_;  // [k]: the sum of least_ from index k to the end
  std::vector<std::size_t> by_size_;      // the largest first
  Assignment best_;
  Assignment current_{0};
};

bool ObjectPlanning::are_apart(std::size_t a, std::size_t b) const {
  return items_[a].lifetime.meets(items_[b].lifetime) ||
         std::ranges::find(separated_[a], b) != separated_[a].end();
}

void ObjectPlanning::find_sets_apart() {
  apart_.assign(items_.size(), ItemSet(items_.size()));
  for (std::size_t a = 0; a < items_.size(); ++a) {
    for (std::size_t b = 0; b < items_.size(); ++b) {
      if (are_apart(a, b)) apart_[a].insert(b);
    }
  }
}

bool ObjectPlanning::may_hold(const Object& object, std::size_t item) const {
  if (!apart_.empty()) return !object.set.meets(apart_[item]);
  return std::ranges::none_of(object.items,
                              [&](std::size_t other) { return are_apart(item, other); });
}

// The number of operators between the item and the nearest other item of the object.
std::int64_t ObjectPlanning::idle_time(const Object& object, std::size_t item) const {
  std::int64_t result = std::numeric_limits<std::int64_t>::max();
  const Lifetime& mine = items_[item].lifetime;
  for (const std::size_t other : object.items) {
    const Lifetime& its = items_[other].lifetime;
    result =
        std::min(result, its.first > mine.last ? its.first - mine.last : mine.first - its.last);
  }
  return result;
}

// Puts each item into the object that grows least; among equals, into the object that is idle for
// the shortest time. Makes a new object only if no other object may hold the item.
Assignment ObjectPlanning::assign_in(const std::vector<std::size_t>& order) const {
  Assignment result(items_.size());
  for (const std::size_t item : order) {
    const std::int64_t size = items_[item].size;
    std::size_t chosen = result.open;
    std::pair<std::int64_t, std::int64_t> best;
    for (std::size_t k = 0; k < result.open; ++k) {
      const Object& object = result.contents[k];
      if (!may_hold(object, item)) continue;
      const std::pair cost{std::max<std::int64_t>(size - object.size, 0), idle_time(object, item)};
      if (chosen != result.open && cost >= best) continue;
      chosen = k;
      best = cost;
    }
    result.put(item, chosen, size);
  }
  return result;
}

// Items sorted by the live bytes at their start (descending), then by size.
std::vector<std::size_t> ObjectPlanning::by_breadth() const {
  const std::vector<std::int64_t> breadth = live_bytes_at_begin(items_);
  std::vector<std::size_t> order = by_size_;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return breadth[a] > breadth[b]; });
  return order;
}

void ObjectPlanning::keep_if_better(const Assignment& found) {
  if (found.bytes < best_.bytes) best_ = found;
}

// A lower bound of the bytes of all objects that are not open yet. The k-th largest object has at
// least least_[k] bytes, and the search opens objects by decreasing size.
std::int64_t ObjectPlanning::least_bytes_of_rest() const {
  return least_from_[std::min(current_.open, least_.size())];
}

// Assigns by_size_[depth] and all later items in each way that may be better than the best plan.
// False if the effort is used up first.
bool ObjectPlanning::search(std::size_t depth) {
  if (current_.bytes + least_bytes_of_rest() >= best_.bytes) return true;
  if (depth == by_size_.size()) {
    keep_if_better(current_);
    return true;
  }
  for (std::size_t k = 0; k < current_.open; ++k) {
    if (may_hold(current_.contents[k], by_size_[depth]) && !decide(depth, k)) return false;
  }
  return decide(depth, current_.open);
}

bool ObjectPlanning::decide(std::size_t depth, std::size_t object) {
  if (!budget_.spend()) return false;
  const std::size_t item = by_size_[depth];
  const std::int64_t bytes = current_.bytes;
  current_.put(item, object, items_[item].size);
  const bool complete = search(depth + 1);
  // The object keeps its size: items are assigned by decreasing size, so its first item determines
  // the size.
  current_.take(object);
  current_.bytes = bytes;
  return complete;
}

ObjectPlan ObjectPlanning::run(bool deterministic) {
  best_ = assign_in(by_size_);
  keep_if_better(assign_in(by_breadth()));
  ObjectPlan plan;
  plan.lower_bound = least_from_.front();
  if (best_.bytes > plan.lower_bound && best_.has_sets()) {
    current_ = Assignment(items_.size());
    if (search(0)) {
      if (best_.bytes > plan.lower_bound) plan.proof = ObjectProof::Exhaustive;
      plan.lower_bound = best_.bytes;
    }
  }
  plan.objects = best_.objects;
  for (std::size_t k = 0; k < best_.open; ++k) plan.sizes.push_back(best_.contents[k].size);
  plan.bytes = best_.bytes;
  plan.steps = budget_.spent();
  plan.deterministic = deterministic;
  return plan;
}

}  // namespace

Result<ObjectPlan> assign_objects(std::span<const BufferItem> items,
                                  std::span<const Separation> separations, const Effort& effort) {
  TL_RETURN_IF_ERROR(check_items(items));
  TL_RETURN_IF_ERROR(check_separations(separations, items.size()));
  return ObjectPlanning(items, separations, effort).run(!effort.time_limit.has_value());
}

}  // namespace texloom::plan
