#include "plan/buffers/offset_search.h"

#include <algorithm>
#include <random>
#include <utility>

#include "plan/buffers/stacking_state.h"
#include "plan/buffers/strategy.h"

namespace texloom::plan {

namespace {

// Some items of a Stacking, ordered by their first section.
using Part = std::vector<std::int32_t>;

constexpr std::int64_t kFirstLimit = 1000;  // steps of the first run of a strategy

// A hash table of refuted states, in which a new entry replaces an old one in the same slot.
class RefutedStates {
 public:
  struct Key {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    bool operator==(const Key&) const = default;
  };

  RefutedStates() : table_(kSize) {}
  bool contains(const Key& key) const { return table_[key.low % kSize] == key; }
  void add(const Key& key) { table_[key.low % kSize] = key; }

 private:
  static constexpr std::size_t kSize = std::size_t{1} << 17;
  std::vector<Key> table_;
};

// The finalizer of MurmurHash3 (Austin Appleby, public domain).
std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 33)) * 0xff51afd7ed558ccdULL;
  value = (value ^ (value >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return value ^ (value >> 33);
}

// Splits items into parts that have no section in common, the smallest first.
std::vector<Part> independent_parts(const Stacking& stacking, const Part& items) {
  std::vector<Part> parts;
  std::int32_t end = -1;
  for (const std::int32_t i : items) {
    if (stacking.items[i].begin >= end) parts.emplace_back();
    parts.back().push_back(i);
    end = std::max(end, stacking.items[i].end);
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.size() < b.size(); });
  return parts;
}

}  // namespace

class OffsetSearch::Impl {
 public:
  Impl(const Stacking& stacking, std::int64_t capacity)
      : stacking_(stacking), state_(stacking, capacity), strategies_(all_strategies()) {
    std::mt19937_64 random(1);
    for (std::size_t i = 0; i < stacking.items.size(); ++i) {
      item_keys_.push_back({random(), random()});
    }
  }

  SearchOutcome run(std::int64_t steps, Budget& budget);
  const std::vector<std::int64_t>& offsets() const { return offsets_; }

 private:
  SearchOutcome run_strategy(std::int64_t limit, Budget& budget);
  SearchOutcome solve(const Part& part);
  SearchOutcome solve_all(const Part& items);
  SearchOutcome decide(const Part& part);
  RefutedStates::Key key_of(const Part& part) const;

  const Stacking& stacking_;
  StackingState state_;
  std::vector<Strategy> strategies_;
  std::vector<RefutedStates::Key> item_keys_;
  RefutedStates refuted_;
  std::vector<std::int64_t> offsets_;

  std::minstd_rand random_{1};

  // The run in progress.
  std::int64_t round_ = 0;
  std::size_t turn_ = 0;
  std::vector<std::int32_t> ranks_;
  std::int64_t steps_left_ = 0;
  Budget* budget_ = nullptr;
};

// The plans that extend a state depend only on the items that are left, on the lower bound of each
// item, and on whether the item waits. The lower bound of an item that does not wait is its rest
// (stacking_state.h).
RefutedStates::Key OffsetSearch::Impl::key_of(const Part& part) const {
  RefutedStates::Key key{1, 1};
  for (const std::int32_t i : part) {
    const std::uint64_t value =
        static_cast<std::uint64_t>(state_.lower(i)) * 2 + (state_.waits(i) ? 1 : 0);
    key.low += mix(item_keys_[i].low ^ mix(value));
    key.high += mix(item_keys_[i].high + mix(~value));
  }
  return key;
}

// Places the items of a part. If the result is Infeasible, no item of the part is placed
// afterwards. After OutOfSteps, the state may only be reset().
SearchOutcome OffsetSearch::Impl::solve(const Part& part) {
  // A single item lies within the capacity: StackingState refuses lower bounds that exceed it.
  if (part.size() == 1) return SearchOutcome::Found;
  const RefutedStates::Key key = key_of(part);
  if (refuted_.contains(key)) return SearchOutcome::Infeasible;
  const std::size_t mark = state_.mark();
  const SearchOutcome outcome = decide(part);
  if (outcome != SearchOutcome::Infeasible) return outcome;
  state_.undo(mark);
  refuted_.add(key);
  return outcome;
}

SearchOutcome OffsetSearch::Impl::decide(const Part& part) {
  const std::int32_t begin = stacking_.items[part.front()].begin;
  std::int32_t end = begin;
  for (const std::int32_t i : part) end = std::max(end, stacking_.items[i].end);
  while (true) {
    const std::optional<std::int32_t> item =
        choose_item(state_, strategies_[turn_], ranks_, begin, end);
    if (!item.has_value()) return SearchOutcome::Infeasible;
    if (--steps_left_ < 0 || !budget_->spend()) return SearchOutcome::OutOfSteps;
    const std::size_t mark = state_.mark();
    if (state_.place(*item)) {
      Part rest;
      rest.reserve(part.size() - 1);
      for (const std::int32_t i : part) {
        if (i != *item) rest.push_back(i);
      }
      const SearchOutcome outcome = solve_all(rest);
      if (outcome != SearchOutcome::Infeasible) return outcome;
    }
    state_.undo(mark);
    if (!state_.let_wait(*item)) return SearchOutcome::Infeasible;
  }
}

SearchOutcome OffsetSearch::Impl::solve_all(const Part& items) {
  for (const Part& part : independent_parts(stacking_, items)) {
    const SearchOutcome outcome = solve(part);
    if (outcome != SearchOutcome::Found) return outcome;
  }
  return SearchOutcome::Found;
}

SearchOutcome OffsetSearch::Impl::run_strategy(std::int64_t limit, Budget& budget) {
  state_.reset();
  ranks_ = rank_items(stacking_, strategies_[turn_].ranking);
  if (round_ > 0) ranks_ = shuffle_ranks(ranks_, random_);
  steps_left_ = limit;
  budget_ = &budget;
  Part all;
  for (std::size_t i = 0; i < stacking_.items.size(); ++i) {
    all.push_back(static_cast<std::int32_t>(i));
  }
  const SearchOutcome outcome = solve_all(all);
  if (outcome == SearchOutcome::Found) {
    offsets_.clear();
    for (const std::int32_t i : all) offsets_.push_back(state_.rest(i));
  }
  return outcome;
}

SearchOutcome OffsetSearch::Impl::run(std::int64_t steps, Budget& budget) {
  for (std::int64_t limit = kFirstLimit; steps > 0; limit += limit / 2) {
    for (turn_ = 0; turn_ < strategies_.size() && steps > 0; ++turn_) {
      const std::int64_t mine = std::min(limit, steps);
      const SearchOutcome outcome = run_strategy(mine, budget);
      if (outcome != SearchOutcome::OutOfSteps || budget.exhausted()) return outcome;
      steps -= mine;
    }
    ++round_;
  }
  return SearchOutcome::OutOfSteps;
}

OffsetSearch::OffsetSearch(const Stacking& stacking, std::int64_t capacity)
    : impl_(std::make_unique<Impl>(stacking, capacity)) {}
OffsetSearch::~OffsetSearch() = default;

SearchOutcome OffsetSearch::run(std::int64_t steps, Budget& budget) {
  return impl_->run(steps, budget);
}

const std::vector<std::int64_t>& OffsetSearch::offsets() const { return impl_->offsets(); }

}  // namespace texloom::plan
