// How long planning may take: steps, which are deterministic, and optionally seconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

namespace texloom::plan {

struct Effort {
  // The number of decisions that a search may try. The same items and the same steps give the same
  // plan on every machine, unless the time limit or `canceled` ends the search first.
  std::int64_t steps = 500'000;
  std::optional<std::chrono::nanoseconds> time_limit = {};
  // Called now and then by the planning thread; planning ends soon after the callback returns true.
  // The callback must not throw. Empty: planning is never canceled.
  std::function<bool()> canceled = {};
};

// Counts the steps of one call. Cannot be copied, because all parts of a search share one budget.
class Budget {
 public:
  explicit Budget(const Effort& effort);
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  // Takes `count` steps. Once the effort is used up, this and all later calls return false.
  bool spend(std::int64_t count = 1);
  bool exhausted() const { return exhausted_; }
  std::int64_t spent() const { return spent_; }
  std::int64_t left() const { return exhausted_ ? 0 : steps_ - spent_; }

 private:
  bool ends_now() const;

  std::int64_t steps_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  const std::function<bool()>& canceled_;
  std::int64_t spent_ = 0;
  std::int64_t next_look_ = 0;  // when the clock and the callback are asked again
  bool exhausted_ = false;
};

}  // namespace texloom::plan
