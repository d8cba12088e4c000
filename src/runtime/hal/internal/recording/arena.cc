#include "runtime/hal/internal/recording/arena.h"

#include "support/sanitizer.h"

namespace texloom::hal {

namespace {

// Enough for one or two commands; most long-lived arenas need no more. Smaller than 1 KiB, because
// glibc consolidates its free small chunks at each larger request.
constexpr std::size_t kFirstBlock = 512;
constexpr std::size_t kMostKept = kAddressSanitizer ? 0 : (1 << 20) / ArenaBlocks::kBytes;

ArenaBlocks::Block allocate_block(std::size_t bytes) {
  return ArenaBlocks::Block(new (std::nothrow) std::byte[bytes]);
}

}  // namespace

ArenaBlocks::Block ArenaBlocks::take() {
  {
    const std::scoped_lock lock(mutex_);
    if (!kept_.empty()) {
      Block block = std::move(kept_.back());
      kept_.pop_back();
      return block;
    }
  }
  return allocate_block(kBytes);
}

void ArenaBlocks::give_back(std::vector<Block> blocks) {
  if (blocks.empty()) return;
  const std::scoped_lock lock(mutex_);
  for (; !blocks.empty() && kept_.size() < kMostKept; blocks.pop_back())
    kept_.push_back(std::move(blocks.back()));
}

void* Arena::allocate_in_new_block(std::size_t bytes) {
  const bool is_first = size_ == 0 && bytes <= kFirstBlock;
  const std::size_t next = is_first ? kFirstBlock : ArenaBlocks::kBytes;
  // A large object gets its own block, so that the rest of the current one is still used.
  const bool is_alone = bytes > ArenaBlocks::kBytes / 2;
  const bool is_shared = !is_alone && !is_first;
  ArenaBlocks::Block block = is_shared ? shared_->take() : allocate_block(is_alone ? bytes : next);
  if (block == nullptr) return nullptr;
  std::byte* begin = block.get();
  (is_shared ? blocks_ : own_).push_back(std::move(block));
  if (is_alone) return begin;
  block_ = begin;
  size_ = next;
  used_ = bytes;
  return begin;
}

}  // namespace texloom::hal
