#include "plan/buffers/offsets.h"

#include <algorithm>
#include <utility>

#include "plan/buffers/first_fit.h"
#include "plan/buffers/offset_search.h"
#include "plan/buffers/stacking.h"

namespace texloom::plan {

namespace {

constexpr std::int64_t kQuickSteps = 200'000;
// First fit takes fewer steps if an exact search follows, which finds better plans in the saved
// steps.
constexpr std::int64_t kQuickStepsBeforeSearch = 20'000;
constexpr std::int64_t kFirstRoundSteps = 50'000;  // steps per capacity in minimize_offsets()

// The state of one call: the best plan so far, and the bounds that are proved.
class Planning {
 public:
  Planning(std::span<const BufferItem> items, const Effort& effort)
      : item_count_(items.size()),
        stacking_(make_stacking(items)),
        budget_(effort),
        deterministic_(!effort.time_limit.has_value()),
        lower_bound_(stacking_.lower_bound) {}

  void place_quickly(std::int64_t steps) {
    best_ = first_fit(stacking_, steps, budget_);
    best_height_ = height(stacking_, best_);
  }
  void search_within(std::int64_t capacity, std::int64_t steps);
  void minimize();
  bool fits(std::int64_t capacity) const { return best_height_ <= capacity; }
  OffsetPlan take_plan() const;

  bool decided(std::int64_t capacity) const {
    return fits(capacity) || lower_bound_ > capacity || budget_.exhausted();
  }
  std::int64_t steps_left() const { return budget_.left(); }

 private:
  std::size_t item_count_;
  Stacking stacking_;
  Budget budget_;
  bool deterministic_;
  std::vector<std::int64_t> best_;
  std::int64_t best_height_ = 0;
  std::int64_t lower_bound_;
  OffsetProof proof_ = OffsetProof::LiveBytes;
};

void Planning::search_within(std::int64_t capacity, std::int64_t steps) {
  if (stacking_.items.size() > kMaxSearchedItems) return;
  capacity -= capacity % stacking_.unit;  // heights of plans are multiples of the unit
  OffsetSearch search(stacking_, capacity);
  switch (search.run(steps, budget_)) {
    case SearchOutcome::Found:
      best_ = search.offsets();
      best_height_ = height(stacking_, best_);
      break;
    case SearchOutcome::Infeasible:
      lower_bound_ = capacity + stacking_.unit;
      proof_ = OffsetProof::Exhaustive;
      break;
    case SearchOutcome::OutOfSteps:
      break;
  }
}

// Each round searches within three capacities: first the lower bound, which is often reached; then
// the middle between the bound and the best height; then the least improvement.
void Planning::minimize() {
  if (stacking_.items.size() > kMaxSearchedItems) return;
  for (std::int64_t steps = kFirstRoundSteps; !decided(lower_bound_); steps *= 2) {
    search_within(lower_bound_, steps);
    if (decided(lower_bound_)) break;
    search_within(lower_bound_ + (best_height_ - lower_bound_) / 2, steps);
    if (decided(lower_bound_)) break;
    search_within(best_height_ - stacking_.unit, steps);
  }
}

OffsetPlan Planning::take_plan() const {
  OffsetPlan plan;
  plan.offsets.assign(item_count_, 0);
  for (std::size_t i = 0; i < best_.size(); ++i) {
    plan.offsets[stacking_.items[i].source] = best_[i];
  }
  plan.bytes = best_height_;
  plan.lower_bound = lower_bound_;
  plan.proof = proof_;
  plan.steps = budget_.spent();
  plan.deterministic = deterministic_;
  return plan;
}

}  // namespace

Result<OffsetPlan> place_offsets(std::span<const BufferItem> items, const Effort& effort) {
  TL_RETURN_IF_ERROR(check_items(items));
  Planning planning(items, effort);
  planning.place_quickly(kQuickSteps);
  return planning.take_plan();
}

Result<OffsetPlan> fit_offsets(std::span<const BufferItem> items, std::int64_t capacity,
                               const Effort& effort) {
  TL_RETURN_IF_ERROR(check_items(items));
  if (capacity < 0) return invalid_argument("the capacity is negative: {} bytes", capacity);
  Planning planning(items, effort);
  planning.place_quickly(kQuickStepsBeforeSearch);
  if (!planning.decided(capacity)) planning.search_within(capacity, planning.steps_left());
  return planning.take_plan();
}

Result<OffsetPlan> minimize_offsets(std::span<const BufferItem> items, const Effort& effort) {
  TL_RETURN_IF_ERROR(check_items(items));
  Planning planning(items, effort);
  planning.place_quickly(kQuickStepsBeforeSearch);
  planning.minimize();
  return planning.take_plan();
}

}  // namespace texloom::plan
