#include "support/ref.h"

namespace texloom {

void RefCounted::destroy_later(const RefCounted* object) noexcept {
  // Trivially destructible, so that handles may outlive other thread-local objects.
  thread_local const RefCounted* waiting = nullptr;
  thread_local bool destroying = false;
  object->count_.store(reinterpret_cast<intptr_t>(waiting), std::memory_order_relaxed);
  waiting = object;
  if (destroying) return;
  destroying = true;
  while (waiting != nullptr) {
    const RefCounted* next = waiting;
    waiting = reinterpret_cast<const RefCounted*>(next->count_.load(std::memory_order_relaxed));
    delete next;
  }
  destroying = false;
}

}  // namespace texloom
