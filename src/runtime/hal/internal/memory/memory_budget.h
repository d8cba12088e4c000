// Limits the memory of one open device.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "support/status.h"

namespace texloom::hal {

// Counts allocated bytes, because drivers and operating systems promise more memory than there is:
// some allocate at the first use, and end the process if nothing is left. Thread safe. Held by
// std::shared_ptr.
class MemoryBudget : public std::enable_shared_from_this<MemoryBudget> {
 public:
  explicit MemoryBudget(std::uint64_t bytes) : bytes_(bytes) {}

  // The bytes are in use as long as a copy of the token exists.
  using Token = std::shared_ptr<const void>;
  // OutOfMemory if less is left.
  Result<Token> take(std::uint64_t bytes);

 private:
  const std::uint64_t bytes_;
  std::mutex mutex_;
  std::uint64_t used_ = 0;  // under mutex_
};

}  // namespace texloom::hal
