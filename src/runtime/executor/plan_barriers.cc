#include "runtime/executor/plan_barriers.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/plan/accesses.h"

namespace texloom::runtime {
namespace {

class BarrierInserter {
 public:
  explicit BarrierInserter(const LaunchPlan& plan) : plan_(plan) {}

  // Returns whether any barrier was missing.
  bool walk(std::vector<Step>& steps) {
    bool inserted = false;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (std::holds_alternative<BarrierStep>(steps[i])) {
        running_.clear();
        continue;
      }
      std::vector<TensorAccess> accesses;
      add_accesses(plan_, steps[i], accesses);
      if (depends_on_running(accesses)) {
        steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(i), BarrierStep{});
        running_.clear();
        inserted = true;
        ++i;
      }
      if (auto* loop = std::get_if<LoopStep>(&steps[i]))
        inserted |= walk_loop(*loop);
      else
        running_.insert(running_.end(), accesses.begin(), accesses.end());
    }
    return inserted;
  }

 private:
  // Nothing in the loop depends on steps that run before the loop.
  bool walk_loop(LoopStep& loop) {
    std::vector<TensorAccess> before = std::exchange(running_, {});
    bool inserted = walk(loop.body);
    // Each walk begins with the accesses at the end of the previous walk, like an iteration of the
    // loop.
    while (walk(loop.body)) inserted = true;
    running_.insert(running_.end(), before.begin(), before.end());
    return inserted;
  }

  bool depends_on_running(const std::vector<TensorAccess>& accesses) const {
    return std::any_of(accesses.begin(), accesses.end(), [&](const TensorAccess& later) {
      return std::any_of(running_.begin(), running_.end(), [&](const TensorAccess& earlier) {
        return are_ordered(plan_, earlier, later);
      });
    });
  }

  const LaunchPlan& plan_;
  std::vector<TensorAccess> running_;  // since the latest barrier
};

}  // namespace

Status add_barriers(LaunchPlan& plan) {
  if (!plan.symbols.empty() || !plan.workspace)
    return invalid_argument(
        "barriers can be found only in a plan that has a workspace and no symbols");
  std::vector<Step> steps = std::move(plan.steps);
  BarrierInserter(plan).walk(steps);
  plan.steps = std::move(steps);
  plan.names_barriers = true;
  return {};
}

}  // namespace texloom::runtime
