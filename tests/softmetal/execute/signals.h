// Turns signals that a running kernel causes into reports.
#pragma once

#include <csignal>

namespace softmetal {

constexpr int kTimeLimitSignal = SIGVTALRM;
constexpr int kDivisionSignal = SIGFPE;

// While a scope exists, the current execution gets faults of programs on this thread of the host,
// and the signal of its time limit. Other faults go to the host's handlers.
class SignalScope {
 public:
  explicit SignalScope(double time_limit);
  ~SignalScope();
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;

 private:
  void* timer_ = nullptr;
  bool has_timer_ = false;
  void* stack_ = nullptr;
  stack_t old_stack_{};
};

}  // namespace softmetal
