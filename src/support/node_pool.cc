#include "support/node_pool.h"

#include <array>
#include <new>
#include <utility>

#include "support/sanitizer.h"

namespace texloom::node_pool {
namespace {

constexpr size_t kGranule = 16;
constexpr size_t kLargest = 256;         // larger nodes are rare
constexpr size_t kMostKept = 16U << 20;  // bytes, of all sizes together

struct Block {
  Block* next;
};
constexpr size_t size_class(size_t bytes) { return (bytes + kGranule - 1) / kGranule; }

// Thread-local objects that are destroyed after the lists may still release nodes.
thread_local bool lists_are_gone = false;

struct FreeLists {
  std::array<Block*, size_class(kLargest) + 1> by_class{};
  size_t bytes = 0;

  ~FreeLists() {
    lists_are_gone = true;
    for (Block* block : by_class) {
      while (block != nullptr) ::operator delete(std::exchange(block, block->next));
    }
  }
};

// The lists for blocks of this size; null if such blocks are not kept.
FreeLists* lists_for(size_t bytes) {
  if (kAddressSanitizer || bytes > kLargest || lists_are_gone) return nullptr;
  thread_local FreeLists lists;
  return &lists;
}

}  // namespace

void* allocate(size_t bytes) {
  const size_t rounded = size_class(bytes) * kGranule;
  FreeLists* lists = lists_for(bytes);
  if (lists == nullptr) return ::operator new(rounded);
  Block*& first = lists->by_class[size_class(bytes)];
  if (first == nullptr) return ::operator new(rounded);
  lists->bytes -= rounded;
  return std::exchange(first, first->next);
}

void release(void* memory, size_t bytes) noexcept {
  const size_t rounded = size_class(bytes) * kGranule;
  FreeLists* lists = lists_for(bytes);
  if (lists == nullptr || lists->bytes + rounded > kMostKept) return ::operator delete(memory);
  Block*& first = lists->by_class[size_class(bytes)];
  first = new (memory) Block{first};
  lists->bytes += rounded;
}

}  // namespace texloom::node_pool
