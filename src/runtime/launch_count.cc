#include "runtime/launch_count.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace texloom::runtime {
namespace {

// The limit for steps that are looked at. A plan from a file may have loops around lists of steps
// that launch nothing, so that counting would take hours; other plans launch something in most
// steps.
constexpr std::int64_t kMaxVisits = 32 * kMaxLaunches;

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

Status too_long() {
  return make_error(StatusCode::LimitExceeded, "one run would make more than {} launches",
                    kMaxLaunches);
}

class Counter {
 public:
  // Counts launches; stops after kMaxLaunches.
  Result<std::int64_t> count(std::span<const Step> steps) {
    std::int64_t sum = 0;
    for (const Step& step : steps) {
      if (++visits_ > kMaxVisits) return too_long();
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
    TL_ASSIGN_OR_RETURN(const std::int64_t extent, loop.extent.at({}, variables_));
    if (extent <= 0) return std::int64_t{0};
    variables_[loop.slot] = 0;
    TL_ASSIGN_OR_RETURN(const std::int64_t first, count(loop.body));
    std::int64_t sum = std::max<std::int64_t>(first, 1);
    if (!depends(loop)) return extent > kMaxLaunches / sum ? kMaxLaunches + 1 : extent * sum;
    for (std::int64_t i = 1; i < extent && sum <= kMaxLaunches; ++i) {
      variables_[loop.slot] = i;
      TL_ASSIGN_OR_RETURN(const std::int64_t more, count(loop.body));
      sum += std::max<std::int64_t>(more, 1);
    }
    return sum;
  }

  // Whether an extent in the body depends on the loop's variable. Asked once for each loop.
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
  return too_long();
}

}  // namespace texloom::runtime
