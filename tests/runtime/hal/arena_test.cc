// Memory of command buffers, and the objects that they keep.
#include "runtime/hal/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <set>
#include <vector>

#include "runtime/hal/retained.h"
#include "support/sanitizer.h"

namespace texloom::hal {
namespace {

// Places of all sizes, also larger than any block, are aligned and apart: each keeps its bytes.
TEST(Arena, PlacesAreApart) {
  Arena arena(std::make_shared<ArenaBlocks>());
  struct Place {
    unsigned char* memory;
    std::size_t bytes;
    int value;
  };
  std::vector<Place> places;
  for (int i = 0; i < 2000; ++i) {
    const std::size_t bytes = i % 500 == 3 ? 300000 : static_cast<std::size_t>(1 + i * 7 % 90);
    const std::size_t alignment = std::size_t{1} << (i % 5);
    auto* memory = static_cast<unsigned char*>(arena.allocate(bytes, alignment));
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % alignment, 0U);
    std::memset(memory, i % 251, bytes);
    places.push_back({memory, bytes, i % 251});
  }
  for (const Place& place : places) {
    for (std::size_t i = 0; i < place.bytes; ++i) ASSERT_EQ(place.memory[i], place.value);
  }
}

TEST(Arena, WhatTheHostHasNoRoomForIsNull) {
  Arena arena(std::make_shared<ArenaBlocks>());
  EXPECT_EQ(arena.allocate(std::size_t{1} << 60, 8), nullptr);
  EXPECT_NE(arena.allocate(16, 8), nullptr);
}

// Places of an arena that is gone are those of the next one.
TEST(Arena, BlocksAreRecycled) {
  if (kAddressSanitizer) GTEST_SKIP() << "nothing is recycled under the sanitizer";
  const auto blocks = std::make_shared<ArenaBlocks>();
  const auto fill = [&] {
    Arena arena(blocks);
    std::set<void*> places;
    for (int i = 0; i < 1000; ++i) places.insert(arena.allocate(1000, 8));
    return places;
  };
  const std::set<void*> first = fill();
  const std::set<void*> second = fill();
  std::vector<void*> both;
  std::set_intersection(first.begin(), first.end(), second.begin(), second.end(),
                        std::back_inserter(both));
  EXPECT_EQ(both.size(), first.size());
}

TEST(RetainedObjects, KeepsEachOnceUntilTheEnd) {
  std::vector<std::shared_ptr<int>> objects;
  for (int i = 0; i < 300; ++i) objects.push_back(std::make_shared<int>(i));
  {
    RetainedObjects retained;
    for (int round = 0; round < 3; ++round) {
      for (const auto& object : objects) retained.retain(object);
    }
    for (const auto& object : objects) EXPECT_EQ(object.use_count(), 2);
  }
  for (const auto& object : objects) EXPECT_EQ(object.use_count(), 1);
}

}  // namespace
}  // namespace texloom::hal
