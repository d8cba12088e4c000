#include "runtime/drivers/opencl/memory/buffer_parts.h"

#include "runtime/drivers/opencl/memory/memory.h"

namespace texloom::hal::opencl {

PartUse& PartUse::operator=(PartUse&& other) noexcept {
  std::swap(parts_, other.parts_);
  std::swap(range_, other.range_);
  std::swap(memory_, other.memory_);
  return *this;
}

PartUse::~PartUse() {
  if (const std::shared_ptr<BufferParts> parts = parts_.lock()) parts->end_use(range_);
}

Result<PartUse> BufferParts::use(const Context& context, cl_mem buffer, std::uint64_t offset,
                                 std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  PartUse use;
  use.range_ = {offset, bytes};
  auto found = parts_.find(use.range_);
  if (found == parts_.end()) {
    TL_ASSIGN_OR_RETURN(MemoryHandle memory, create_part(context, buffer, offset, bytes));
    found = parts_.emplace(use.range_, Part{.memory = std::move(memory)}).first;
  } else if (found->second.uses == 0) {
    --unused_;
  }
  ++found->second.uses;
  use.memory_ = found->second.memory.get();
  use.parts_ = weak_from_this();
  return use;
}

void BufferParts::end_use(const PartUse::Range& range) {
  const std::scoped_lock lock(mutex_);
  const auto found = parts_.find(range);
  if (found != parts_.end() && --found->second.uses == 0) ++unused_;
  if (unused_ <= kMostUnused) return;
  std::erase_if(parts_, [](const auto& part) { return part.second.uses == 0; });
  unused_ = 0;
}

void BufferParts::clear() {
  const std::scoped_lock lock(mutex_);
  parts_.clear();
  unused_ = 0;
}

}  // namespace texloom::hal::opencl
