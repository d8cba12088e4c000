// Counts the memory that an allocator has allocated.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "runtime/hal/types.h"

namespace texloom::hal {

struct MemoryCount {
  std::uint64_t bytes = 0;
  std::uint64_t objects = 0;
  std::uint64_t peak_bytes = 0;    // the most at one time
  std::uint64_t peak_objects = 0;  // the most at one time
  bool operator==(const MemoryCount&) const = default;
};

// Bytes are as requested; a driver may allocate more. Subspans and views share memory and are not
// counted.
struct MemoryStatistics {
  std::array<MemoryCount, kAllMemoryKinds.size()> kinds = {};  // by MemoryKind
  MemoryCount imported;                                        // the caller's own memory

  const MemoryCount& of(MemoryKind kind) const { return kinds[static_cast<std::size_t>(kind)]; }
};

// Thread safe.
class MemoryCounter {
 public:
  MemoryStatistics statistics() const {
    const std::lock_guard lock(mutex_);
    return statistics_;
  }

 private:
  friend class MemoryCharge;

  mutable std::mutex mutex_;
  MemoryStatistics statistics_;
};

// Counts one object during its lifetime, and keeps its part of the device's memory. Move-only.
class MemoryCharge {
 public:
  MemoryCharge() = default;  // counts nothing
  static MemoryCharge of(std::shared_ptr<MemoryCounter> counter, MemoryKind kind,
                         std::uint64_t bytes, std::shared_ptr<const void> reserved = {}) {
    MemoryCount& count = counter->statistics_.kinds[static_cast<std::size_t>(kind)];
    MemoryCharge charge(std::move(counter), count, bytes);
    charge.reserved_ = std::move(reserved);
    return charge;
  }
  static MemoryCharge of_import(std::shared_ptr<MemoryCounter> counter, std::uint64_t bytes) {
    MemoryCount& count = counter->statistics_.imported;
    return MemoryCharge(std::move(counter), count, bytes);
  }
  MemoryCharge(MemoryCharge&& other) noexcept
      : counter_(std::move(other.counter_)),
        count_(other.count_),
        bytes_(other.bytes_),
        reserved_(std::move(other.reserved_)) {}
  MemoryCharge& operator=(MemoryCharge&& other) noexcept {
    std::swap(counter_, other.counter_);
    std::swap(count_, other.count_);
    std::swap(bytes_, other.bytes_);
    std::swap(reserved_, other.reserved_);
    return *this;
  }
  ~MemoryCharge();

 private:
  MemoryCharge(std::shared_ptr<MemoryCounter> counter, MemoryCount& count, std::uint64_t bytes);

  std::shared_ptr<MemoryCounter> counter_;
  MemoryCount* count_ = nullptr;  // a part of *counter_
  std::uint64_t bytes_ = 0;
  std::shared_ptr<const void> reserved_;  // a token of the device's MemoryBudget
};

}  // namespace texloom::hal
