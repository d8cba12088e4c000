#include "tests/softmetal/api/classes/checks/faults.h"

#include <atomic>
#include <mutex>

namespace softmetal {
namespace {
std::mutex fault_mutex;
uint64_t chosen = 0, count = 0;
std::string failed;
std::atomic<bool> samples_are_dropped = false;
}  // namespace

void fail_call(uint64_t n) {
  const std::lock_guard lock(fault_mutex);
  chosen = n;
  count = 0;
  failed.clear();
}

uint64_t calls_that_may_fail() {
  const std::lock_guard lock(fault_mutex);
  return count;
}

std::string failed_call() {
  const std::lock_guard lock(fault_mutex);
  return failed;
}

bool must_fail(const char* call) {
  const std::lock_guard lock(fault_mutex);
  if (++count != chosen) return false;
  failed = call;
  return true;
}

void drop_samples(bool drop) { samples_are_dropped = drop; }

bool drops_samples() { return samples_are_dropped; }

}  // namespace softmetal
