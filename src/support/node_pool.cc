#include "support/node_pool.h"

#include <array>
#include <new>

namespace texloom::node_pool {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kKeeps = false;  // so that a use after the release is seen
#elif defined(__has_feature)
constexpr bool kKeeps = !__has_feature(address_sanitizer);
#else
constexpr bool kKeeps = true;
#endif

constexpr size_t kGranule = 16;
constexpr size_t kLargest = 256;      // larger ones are rare
constexpr size_t kMostKept = 65'536;  // of one size: at most 16 MiB

struct Block {
  Block* next;
};
struct FreeList {
  Block* first = nullptr;
  size_t count = 0;
};

constexpr size_t size_class(size_t bytes) { return (bytes + kGranule - 1) / kGranule; }

// Nodes may be released while a thread's variables are destroyed, after its lists.
thread_local bool lists_are_gone = false;

struct FreeLists {
  std::array<FreeList, size_class(kLargest) + 1> by_class;

  ~FreeLists() {
    lists_are_gone = true;
    for (const FreeList& list : by_class) {
      for (Block* block = list.first; block != nullptr;) {
        Block* next = block->next;
        ::operator delete(block);
        block = next;
      }
    }
  }
};

FreeList* list_for(size_t bytes) {
  if (!kKeeps || bytes > kLargest || lists_are_gone) return nullptr;
  thread_local FreeLists lists;
  return &lists.by_class[size_class(bytes)];
}

}  // namespace

void* allocate(size_t bytes) {
  FreeList* list = list_for(bytes);
  if (list != nullptr && list->first != nullptr) {
    --list->count;
    Block* block = list->first;
    list->first = block->next;
    return block;
  }
  return ::operator new(size_class(bytes) * kGranule);
}

void release(void* memory, size_t bytes) noexcept {
  FreeList* list = list_for(bytes);
  if (list == nullptr || list->count == kMostKept) return ::operator delete(memory);
  list->first = new (memory) Block{list->first};
  ++list->count;
}

}  // namespace texloom::node_pool
