#include "support/ref.h"

#include <vector>

namespace texloom {

void RefCounted::destroy_later(const RefCounted* object) noexcept {
  // A pointer, so that handles may outlive the destructors of thread-local objects.
  thread_local std::vector<const RefCounted*>* pending = nullptr;
  if (pending != nullptr) {
    pending->push_back(object);
    return;
  }
  std::vector<const RefCounted*> queue;
  pending = &queue;
  delete object;
  while (!queue.empty()) {
    const RefCounted* next = queue.back();
    queue.pop_back();
    delete next;
  }
  pending = nullptr;
}

}  // namespace texloom
