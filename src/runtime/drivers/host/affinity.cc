#include "runtime/drivers/host/affinity.h"

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace texloom::hal::host {

#if defined(__linux__)

namespace {

constexpr std::size_t kMostBytes = 8 * sizeof(cpu_set_t);  // 8,192 processors

cpu_set_t* as_set(std::vector<std::byte>& bytes) {
  return reinterpret_cast<cpu_set_t*>(bytes.data());
}

}  // namespace

Affinity Affinity::of_this_thread() {
  Affinity made;
  made.set_.resize(kMostBytes);
  if (sched_getaffinity(0, made.set_.size(), as_set(made.set_)) != 0) made.set_.clear();
  return made;
}

void Affinity::keep_off_this_processor(std::thread& thread) const {
  const int own = sched_getcpu();
  if (set_.empty() || own < 0) return;
  std::vector<std::byte> others = set_;
  CPU_CLR_S(static_cast<std::size_t>(own), others.size(), as_set(others));
  if (CPU_COUNT_S(others.size(), as_set(others)) != 0)
    pthread_setaffinity_np(thread.native_handle(), others.size(), as_set(others));
}

void Affinity::restore() const {
  if (!set_.empty())
    sched_setaffinity(0, set_.size(), reinterpret_cast<const cpu_set_t*>(set_.data()));
}

#else

Affinity Affinity::of_this_thread() { return {}; }
void Affinity::keep_off_this_processor(std::thread&) const {}
void Affinity::restore() const {}

#endif

}  // namespace texloom::hal::host
