// Tests the arena of a command buffer and the objects that it retains.
#include "runtime/hal/internal/recording/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <set>
#include <vector>

#include "runtime/drivers/null/driver.h"
#include "runtime/hal/device.h"
#include "runtime/hal/internal/recording/retained.h"
#include "support/sanitizer.h"

namespace texloom::hal {
namespace {

// Allocations of all sizes, even larger than a block, are aligned and disjoint: each keeps its
// bytes.
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

// Later command buffers of a device reuse the blocks of earlier ones, whatever else is allocated.
TEST(Arena, ADeviceHandsBlocksOn) {
  if (kAddressSanitizer) GTEST_SKIP() << "nothing is recycled under the sanitizer";
  const auto device = *null::create_driver()->open(0);
  const auto record = [&] {
    const auto commands = device->create_command_buffer();
    for (int i = 0; i < 1000; ++i) EXPECT_TRUE(commands->barrier().ok());
    std::set<const void*> places;
    for (const Segment& segment : commands->segments()) places.insert(&segment);
    return places;
  };
  const std::set<const void*> first = record();
  std::vector<ArenaBlocks::Block> others(500);
  for (ArenaBlocks::Block& other : others) other.reset(new std::byte[ArenaBlocks::kBytes]);
  const std::set<const void*> second = record();
  std::vector<const void*> both;
  std::set_intersection(first.begin(), first.end(), second.begin(), second.end(),
                        std::back_inserter(both));
  // All allocations are reused except those in the first, small block.
  EXPECT_GE(both.size(), 990U);
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
