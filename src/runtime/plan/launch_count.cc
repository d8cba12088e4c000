#include "runtime/plan/launch_count.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace texloom::runtime {
namespace {

// The limit for the steps of a run and the operations of its sizes, because a plan from a file may
// have loops around many steps that launch nothing. In other plans most steps launch a kernel.
constexpr std::int64_t kMaxVisits = 16 * kMaxLaunches;

bool uses(const Size& size, std::uint32_t slot) {
  const std::vector<std::uint32_t> slots = size.loop_slots();
  return std::find(slots.begin(), slots.end(), slot) != slots.end();
}

// Whether an extent in the steps depends on the loop variable.
bool uses(const std::vector<Step>& steps, std::uint32_t slot) {
  return std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
    const auto* loop = std::get_if<LoopStep>(&step);
    return loop != nullptr && (uses(loop->extent, slot) || uses(loop->body, slot));
  });
}

Status too_many_steps() {
  return make_error(StatusCode::LimitExceeded, "one run would take more than {} steps", kMaxVisits);
}

class Counter {
 public:
  // Counts launches; stops after kMaxLaunches.
  Result<std::int64_t> count(std::span<const Step> steps) {
    std::int64_t sum = 0;
    for (const Step& step : steps) {
      if (++visits_ > kMaxVisits) return too_many_steps();
      if (std::holds_alternative<LaunchStep>(step) || std::holds_alternative<CallStep>(step)) ++sum;
      if (const auto* loop = std::get_if<LoopStep>(&step)) {
        TL_ASSIGN_OR_RETURN(const std::int64_t inside, count(*loop));
        sum += inside;
      }
      if (sum > kMaxLaunches) break;
    }
    return sum;
  }

 private:
  Result<std::int64_t> count(const LoopStep& loop) {
    visits_ += static_cast<std::int64_t>(loop.extent.steps().size());
    TL_ASSIGN_OR_RETURN(const std::int64_t extent, loop.extent.at({}, variables_));
    if (extent <= 0) return std::int64_t{0};
    variables_[loop.slot] = 0;
    const std::int64_t before = visits_;
    TL_ASSIGN_OR_RETURN(const std::int64_t first, count(loop.body));
    std::int64_t sum = std::max<std::int64_t>(first, 1);
    if (!depends(loop)) {
      if (extent > kMaxLaunches / sum) return kMaxLaunches + 1;
      const std::int64_t of_body = visits_ - before;
      if (of_body > kMaxVisits / extent) return too_many_steps();
      visits_ += of_body * (extent - 1);
      return extent * sum;
    }
    for (std::int64_t i = 1; i < extent && sum <= kMaxLaunches; ++i) {
      variables_[loop.slot] = i;
      TL_ASSIGN_OR_RETURN(const std::int64_t more, count(loop.body));
      sum += std::max<std::int64_t>(more, 1);
    }
    return sum;
  }

  // Whether an extent in the body depends on the loop's variable. Computed once for each loop.
  bool depends(const LoopStep& loop) {
    const auto [known, is_new] = depends_.emplace(&loop, false);
    if (is_new) known->second = uses(loop.body, loop.slot);
    return known->second;
  }

  std::int64_t visits_ = 0;
  std::unordered_map<const LoopStep*, bool> depends_;
  LoopValues variables_;
};

}  // namespace

Result<std::int64_t> launches_of(std::span<const Step> steps) {
  TL_ASSIGN_OR_RETURN(const std::int64_t launches, Counter().count(steps));
  if (launches <= kMaxLaunches) return launches;
  return make_error(StatusCode::LimitExceeded, "one run would make more than {} launches",
                    kMaxLaunches);
}

}  // namespace texloom::runtime
