#include "runtime/hal/arena.h"

#include <algorithm>

namespace texloom::hal {

namespace {

constexpr std::size_t kFirstBlock = 1 << 10;
constexpr std::size_t kLargestBlock = 1 << 17;

}  // namespace

void* Arena::allocate_in_new_block(std::size_t bytes) {
  const std::size_t next = std::clamp(2 * size_, kFirstBlock, kLargestBlock);
  // What is large has a block of its own, so that the rest of the present one is still used.
  const bool alone = bytes > next / 2;
  const std::size_t size = alone ? std::max<std::size_t>(bytes, 1) : next;
  std::unique_ptr<std::byte[]> block(new (std::nothrow) std::byte[size]);
  if (block == nullptr) return nullptr;
  std::byte* begin = block.get();
  blocks_.push_back(std::move(block));
  if (alone) return begin;
  block_ = begin;
  size_ = size;
  used_ = bytes;
  return begin;
}

}  // namespace texloom::hal
