// Keeps a set of objects alive.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/hal/internal/recording/pointer_hash.h"

namespace texloom::hal {

// Keeps each object once, however often it is added. Used by one thread at a time.
class RetainedObjects {
 public:
  template <typename T>
  void retain(const std::shared_ptr<T>& object) {
    if (object.get() == latest_) return;
    if (!contains(object.get())) add(object);
    latest_ = object.get();
  }

 private:
  bool contains(const void* object) const {
    if (table_.empty()) return false;
    for (std::size_t i = hash_place(object, table_.size());; i = (i + 1) & (table_.size() - 1)) {
      if (table_[i] == object) return true;
      if (table_[i] == nullptr) return false;
    }
  }
  void add(std::shared_ptr<const void> object);
  void insert(const void* object);

  std::vector<std::shared_ptr<const void>> objects_;
  std::vector<const void*> table_;  // open addressing; at most half full, a power of two
  const void* latest_ = nullptr;
};

}  // namespace texloom::hal
