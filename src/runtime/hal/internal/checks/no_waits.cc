#include "runtime/hal/no_waits.h"

#include <utility>

namespace texloom::hal {
namespace {

// The caller that must not wait on this thread; empty if waiting is allowed.
thread_local std::string_view caller_without_waits;

}  // namespace

NoWaits::NoWaits(std::string_view caller) : outer_(std::exchange(caller_without_waits, caller)) {}
NoWaits::~NoWaits() { caller_without_waits = outer_; }

bool NoWaits::are_refused() { return !caller_without_waits.empty(); }

Status check_may_wait() {
  if (!NoWaits::are_refused()) return {};
  return invalid_argument(
      "{} waits, which would stop the queue that calls it; help: let commands follow one another "
      "in the queue's order, or wait where the work is submitted",
      caller_without_waits);
}

}  // namespace texloom::hal
