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
  const auto [found, is_new] = places_.try_emplace(use.range_, parts_.size());
  if (is_new) {
    Result<MemoryHandle> memory = create_part(context, buffer, offset, bytes);
    if (!memory.ok()) {
      places_.erase(found);
      return memory.status();
    }
    parts_.push_back({.range = use.range_, .memory = *std::move(memory)});
    ++unused_;
  }
  Part& part = parts_[found->second];
  if (part.uses++ == 0) --unused_;
  use.memory_ = part.memory.get();
  use.parts_ = weak_from_this();
  return use;
}

void BufferParts::end_use(const PartUse::Range& range) {
  const std::scoped_lock lock(mutex_);
  const auto found = places_.find(range);
  if (found != places_.end() && --parts_[found->second].uses == 0) ++unused_;
  if (unused_ <= kMostUnused) return;
  while (!parts_.empty() && parts_.back().uses == 0) {
    release_last();
    --unused_;
  }
}

void BufferParts::release_last() {
  places_.erase(parts_.back().range);
  parts_.pop_back();
}

void BufferParts::clear() {
  const std::scoped_lock lock(mutex_);
  while (!parts_.empty()) release_last();
  unused_ = 0;
}

}  // namespace texloom::hal::opencl
