#include "runtime/hal/internal/memory/memory_budget.h"

#include "support/byte_text.h"

namespace texloom::hal {

Result<MemoryBudget::Token> MemoryBudget::take(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > bytes_ - used_)
    return make_error(StatusCode::OutOfMemory, "no memory for {} more: {} of {} are in use",
                      byte_text(bytes), byte_text(used_), byte_text(bytes_));
  used_ += bytes;
  return Token(this, [budget = shared_from_this(), bytes](const void*) {
    const std::lock_guard giving_back(budget->mutex_);
    budget->used_ -= bytes;
  });
}

}  // namespace texloom::hal
