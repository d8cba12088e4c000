#include "support/node_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "support/ref.h"

namespace texloom {
namespace {

// Blocks in use at the same time never overlap, whatever their sizes.
TEST(NodePool, BlocksAreApart) {
  std::set<std::pair<uintptr_t, uintptr_t>> taken;
  std::vector<std::pair<void*, size_t>> blocks;
  for (size_t round = 0; round < 3; ++round) {
    for (size_t bytes = 1; bytes <= 600; ++bytes) {
      void* memory = node_pool::allocate(bytes);
      std::memset(memory, 0x5a, bytes);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignof(std::max_align_t), 0U);
      const auto begin = reinterpret_cast<uintptr_t>(memory);
      const auto next = taken.lower_bound({begin, 0});
      if (next != taken.end()) {
        EXPECT_LE(begin + bytes, next->first);
      }
      taken.insert({begin, begin + bytes});
      blocks.emplace_back(memory, bytes);
    }
    for (size_t i = blocks.size() / 2; i < blocks.size(); ++i) {
      taken.erase({reinterpret_cast<uintptr_t>(blocks[i].first),
                   reinterpret_cast<uintptr_t>(blocks[i].first) + blocks[i].second});
      node_pool::release(blocks[i].first, blocks[i].second);
    }
    blocks.resize(blocks.size() / 2);
  }
  for (const auto& [memory, bytes] : blocks) node_pool::release(memory, bytes);
}

// A thread may free a node of another thread, even after that thread has ended.
TEST(NodePool, BlocksMoveBetweenThreads) {
  std::vector<void*> blocks;
  std::thread maker([&] {
    for (int i = 0; i < 1000; ++i) blocks.push_back(node_pool::allocate(48));
    for (int i = 0; i < 500; ++i) {
      node_pool::release(blocks.back(), 48);
      blocks.pop_back();
    }
  });
  maker.join();
  for (void* memory : blocks) node_pool::release(memory, 48);
  std::set<void*> again;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(again.insert(node_pool::allocate(48)).second);
  for (void* memory : again) node_pool::release(memory, 48);
}

struct Held : RefCounted {
  explicit Held(Ref<Held> n) : next(std::move(n)) {}
  Ref<Held> next;
};

// A thread_local variable may release nodes in its destructor, when the thread's list is gone.
TEST(NodePool, NodesOutliveTheListsOfTheirThread) {
  std::thread thread([] {
    thread_local Ref<Held> kept;
    kept = Ref<Held>(new Held(Ref<Held>(new Held({}))));
  });
  thread.join();
}

}  // namespace
}  // namespace texloom
