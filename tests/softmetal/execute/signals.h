// Faults of programs: signals that belong to a running kernel become reports.
#pragma once

#include <csignal>

namespace softmetal {

constexpr int kTimeLimitSignal = SIGVTALRM;
constexpr int kDivisionSignal = SIGFPE;

// While one exists, faults in programs on this thread of the host are given to the current
// execution, as is the end of its time. Faults elsewhere are the host's, as before.
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
