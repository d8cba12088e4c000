// Objects that are kept alive together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace texloom::hal {

// Keeps each object once, however often it is given. Used by one thread at a time.
class RetainedObjects {
 public:
  template <typename T>
  void retain(const std::shared_ptr<T>& object) {
    if (object.get() == latest_) return;
    if (!contains(object.get())) add(object);
    latest_ = object.get();
  }

 private:
  // Fibonacci hashing (Knuth, The Art of Computer Programming, section 6.4): the top bits of the
  // product with 2^64 divided by the golden ratio.
  std::size_t place_of(const void* object) const {
    return (reinterpret_cast<std::uintptr_t>(object) * 0x9e3779b97f4a7c15u) >> shift_;
  }
  bool contains(const void* object) const {
    if (table_.empty()) return false;
    for (std::size_t i = place_of(object);; i = (i + 1) & (table_.size() - 1)) {
      if (table_[i] == object) return true;
      if (table_[i] == nullptr) return false;
    }
  }
  void add(std::shared_ptr<const void> object);
  void insert(const void* object);

  std::vector<std::shared_ptr<const void>> objects_;
  std::vector<const void*> table_;  // open addressing; at most half full, a power of two
  unsigned shift_ = 64;             // 64 less the bits of a place
  const void* latest_ = nullptr;
};

}  // namespace texloom::hal
