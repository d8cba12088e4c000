// Tests arrays and images, and the places of tensors in them.
#include "ir/interpret/memory.h"

#include <gtest/gtest.h>

#include "support/check.h"
#include "tests/ir/accesses.h"

namespace texloom::ir {
namespace {

TEST(Memories, Arrays) {
  Memory memory = Memory::array(Type::i(16), 3);
  EXPECT_FALSE(memory.is_image());
  EXPECT_EQ(memory.size(), 3);
  EXPECT_EQ(memory.bytes().size(), 6U);
  EXPECT_EQ(memory.get(1).undefined, kNeverWritten);
  memory.set(1, scalar_of(int64_t{-2}));
  EXPECT_EQ(memory.get(1).integer, -2);
  EXPECT_EQ(memory.get(1).undefined, 0U);
  EXPECT_EQ(memory.bytes()[2], std::byte{0xfe});
  EXPECT_EQ(memory.get(2).undefined, kNeverWritten);
  EXPECT_THROW(memory.get(3), InternalError);
  EXPECT_THROW(memory.set(-1, {}), InternalError);
}

// Images store texels row by row, four lanes each.
TEST(Memories, Images) {
  const Memory memory = Memory::image(kFloat32, 3, 2);
  EXPECT_TRUE(memory.is_image());
  EXPECT_EQ(memory.size(), 24);
  EXPECT_EQ(memory.texel(2, 1), 20);
  EXPECT_THROW(Memory::image(kFloat32, 0, 1), InternalError);
}

// Elements that an earlier run left undefined count as never written.
TEST(Memories, DefinedOrNot) {
  Memory memory = Memory::array(kFloat32, 3);
  memory.set(0, {.undefined = 7});
  memory.set(1, scalar_of(1.5));
  memory.forget_origins();
  EXPECT_EQ(memory.get(0).undefined, kNeverWritten);
  EXPECT_EQ(memory.get(1).undefined, 0U);
  EXPECT_EQ(memory.get(2).undefined, kNeverWritten);
  memory.define_all();
  EXPECT_EQ(memory.get(2).undefined, 0U);
  EXPECT_EQ(memory.get(1).number, 1.5);
}

TEST(Memories, TensorsInImages) {
  const Buffer t = make_texture("t", Type::i(8), texture_layout({2, 5}, TextureRule::Activation));
  Memory memory = memory_for(*t, 1, 2);
  EXPECT_EQ(memory.width(), 3);  // five elements are two texels
  EXPECT_EQ(memory.height(), 4);
  const Placement at{&memory, 1, 2};
  const std::vector<double> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  EXPECT_THROW(contents(*t, at), InternalError);  // nothing is written yet
  fill(*t, at, values);
  EXPECT_EQ(contents(*t, at), values);
  EXPECT_EQ(memory.get(memory.texel(2, 3)).integer, 10);
  EXPECT_EQ(memory.get(memory.texel(2, 3) + 1).undefined, kNeverWritten);  // padding
  EXPECT_THROW(fill(*t, at, {1, 2}), InternalError);
  EXPECT_THROW(fill(*t, at, std::vector<double>(11)), InternalError);
}

}  // namespace
}  // namespace texloom::ir
