#include "ir/loop_kind.h"

#include <gtest/gtest.h>

namespace texloom::ir {
namespace {

constexpr LoopKind kAll[] = {LoopKind::Serial, LoopKind::Unrolled, LoopKind::Vectorized,
                             LoopKind::Thread, LoopKind::Virtual,  LoopKind::Parallel};

TEST(LoopKinds, HaveAWordInPrograms) {
  EXPECT_EQ(loop_word(LoopKind::Serial), "for");
  EXPECT_EQ(loop_word(LoopKind::Vectorized), "vectorized");
  for (const LoopKind kind : kAll) {
    EXPECT_EQ(find_loop_kind(loop_word(kind)), kind);
  }
  EXPECT_EQ(find_loop_kind(""), std::nullopt);
}

TEST(LoopKinds, HaveADirective) {
  EXPECT_EQ(directive_for(LoopKind::Unrolled), "unroll");
  EXPECT_EQ(directive_for(LoopKind::Virtual), "bind");
  EXPECT_EQ(to_string(LoopKind::Parallel), "parallel");
}

TEST(LoopKinds, AreSequentialUnlessThreadsOrLanesRunThem) {
  EXPECT_TRUE(is_sequential(LoopKind::Unrolled));
  EXPECT_TRUE(is_sequential(LoopKind::Parallel));  // one thread may run it, too
  EXPECT_FALSE(is_sequential(LoopKind::Vectorized));
  EXPECT_FALSE(is_sequential(LoopKind::Virtual));
}

}  // namespace
}  // namespace texloom::ir
