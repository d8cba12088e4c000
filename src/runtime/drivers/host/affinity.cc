#include "runtime/drivers/host/affinity.h"

#include <algorithm>
#include <cstddef>

#if defined(__linux__)
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace texloom::hal::host {

#if defined(__linux__)

int current_thread() { return static_cast<int>(syscall(SYS_gettid)); }
int current_processor() { return sched_getcpu(); }

Affinity Affinity::of(int thread) {
  Affinity made;
  auto* set = reinterpret_cast<cpu_set_t*>(made.bits_.data());
  if (sched_getaffinity(thread, sizeof made.bits_, set) != 0) made.bits_ = {};
  return made;
}

bool Affinity::apply_to(int thread) const {
  const auto* set = reinterpret_cast<const cpu_set_t*>(bits_.data());
  return sched_setaffinity(thread, sizeof bits_, set) == 0;
}

#else

int current_thread() { return -1; }
int current_processor() { return -1; }
Affinity Affinity::of(int) { return {}; }
bool Affinity::apply_to(int) const { return false; }

#endif

Affinity Affinity::without(int processor) const {
  constexpr std::size_t kBits = 8 * sizeof(unsigned long);
  Affinity made = *this;
  const auto at = static_cast<std::size_t>(processor);
  if (at < kBits * made.bits_.size()) made.bits_[at / kBits] &= ~(1UL << at % kBits);
  return made;
}

bool Affinity::is_empty() const {
  return std::ranges::all_of(bits_, [](unsigned long each) { return each == 0; });
}

}  // namespace texloom::hal::host
