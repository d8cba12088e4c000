// Tests finding the loops around attached stages.
#include "schedule/attach.h"

#include <gtest/gtest.h>

#include "tests/schedule/te.h"

namespace texloom::schedule {
namespace {

using namespace testing;
using ir::IterVar;
using ir::MemoryScope;
using ir::Tensor;

// A -> B -> C -> D, each over 8 x 6.
class Attach : public ::testing::Test {
 protected:
  static std::string text(const Te& te, const LoopPath& path) {
    std::string result;
    for (const LoopRef& loop : path) {
      result += fmt::format("{}{}.{}", result.empty() ? "" : ", ", te.s.stage(loop.stage).name(),
                            loop.leaf->name());
    }
    return result;
  }
  std::string enclosing(const Tensor& t) const { return text(te, enclosing_loops(te.s, te.id(t))); }
  std::string all(const Tensor& t) const { return text(te, all_loops(te.s, te.id(t))); }
  MemoryScope memory(const Tensor& t) const { return scope_of(te.s, te.id(t)).memory; }

  Tensor a = placeholder("A", {8, 6});
  Tensor b = plus_one(a, "B"), c = plus_one(b, "C"), d = plus_one(c, "D");
  Te te{{d}};
  IterVar di = te.axis(d, 0), dj = te.axis(d, 1), ci = te.axis(c, 0), cj = te.axis(c, 1);
};

TEST_F(Attach, RootStages) {
  EXPECT_EQ(enclosing(d), "");
  EXPECT_EQ(all(d), "D.i, D.j");
  EXPECT_EQ(enclosing(a), "");
}

TEST_F(Attach, AttachedStages) {
  te.compute_at(c, d, di);
  EXPECT_EQ(enclosing(c), "D.i");
  EXPECT_EQ(all(c), "D.i, C.i, C.j");
  te.compute_at(c, d, dj);
  EXPECT_EQ(enclosing(c), "D.i, D.j");
  te.compute_at(b, c, ci);
  EXPECT_EQ(enclosing(b), "D.i, D.j, C.i");
  EXPECT_EQ(all(b), "D.i, D.j, C.i, B.i, B.j");
}

TEST_F(Attach, LoopsAreEqualWhenStageAndLeafAre) {
  const LoopRef loop{te.id(d), di};
  EXPECT_TRUE(loop == (LoopRef{te.id(d), di}));
  EXPECT_FALSE(loop == (LoopRef{te.id(d), dj}));
  EXPECT_FALSE(loop == (LoopRef{te.id(c), di}));
}

// An attachment follows its loop to the inner part of a later split, and to a fused loop.
TEST_F(Attach, FollowsSplitsAndFusions) {
  te.compute_at(c, d, di);
  te.compute_at(b, c, ci);
  const auto [outer, inner] = te.split(d, di, 2);
  EXPECT_EQ(enclosing(c), "D.i.outer, D.i.inner");
  const IterVar fused = te.fuse(d, {outer, inner});
  EXPECT_EQ(enclosing(c), "D.i.outer.i.inner.fused");
  te.fuse(d, {fused, dj});
  EXPECT_EQ(faults([&] { enclosing(c); }),
            "TL3005 te.py:18: 'C' is computed at the loop 'i' of 'D', which has already been fused "
            "into 'i.outer.i.inner.fused.j.fused'");
  te.fuse(c, {ci, cj});
  EXPECT_EQ(faults([&] { enclosing(b); }),
            "TL3005 te.py:18: 'C' is computed at the loop 'i' of 'D', which has already been fused "
            "into 'i.outer.i.inner.fused.j.fused'");
}

TEST_F(Attach, LeafOf) {
  const auto [outer, inner] = te.split(d, dj, 2);
  EXPECT_TRUE(leaf_of(te.stage(d), dj).same_as(inner));
  EXPECT_TRUE(leaf_of(te.stage(d), outer).same_as(outer));
  EXPECT_TRUE(leaf_of(te.stage(d), di).same_as(di));
  const IterVar fused = te.fuse(d, {di, outer});
  EXPECT_TRUE(leaf_of(te.stage(d), outer).same_as(fused));
  EXPECT_TRUE(leaf_of(te.stage(d), di).same_as(di));
  EXPECT_TRUE(leaf_of(te.stage(d), dj).same_as(inner));
}

TEST_F(Attach, Cycles) {
  te.compute_at(c, b, te.axis(b, 0), 31);
  te.compute_at(b, c, ci, 32);
  EXPECT_EQ(faults([&] { enclosing(b); }),
            "TL3014 te.py:31: 'C' is computed inside itself, via 'B'");
  EXPECT_EQ(faults([&] { enclosing(c); }),
            "TL3014 te.py:32: 'B' is computed inside itself, via 'C'");
}

// A chain as deep as the number of computes is not a cycle.
TEST_F(Attach, LongestChain) {
  constexpr int kStages = 8;
  std::vector<Tensor> chain = {a};
  for (int n = 0; n < kStages; ++n) chain.push_back(plus_one(chain.back(), fmt::format("T{}", n)));
  Te deep({chain.back()});
  for (size_t n = 1; n < kStages; ++n) {
    deep.compute_at(chain[n], chain[n + 1], deep.axis(chain[n + 1], 0));
  }
  EXPECT_EQ(text(deep, enclosing_loops(deep.s, deep.id(chain[1]))),
            "T7.i, T6.i, T5.i, T4.i, T3.i, T2.i, T1.i");
}

TEST_F(Attach, InlinedStagesHaveNoLoops) {
  te.compute_at(b, c, ci, 31);
  te.compute_inline(c);
  EXPECT_EQ(faults([&] { enclosing(b); }),
            "TL3005 te.py:31: 'B' is computed at a loop of 'C', which is inlined and has no loops");
}

TEST_F(Attach, Threads) {
  te.bind(d, di, "blockIdx.y");
  te.unroll(d, dj);
  EXPECT_EQ(to_string(thread_of(te.s, {te.id(d), di})->tag), "blockIdx.y");
  EXPECT_FALSE(thread_of(te.s, {te.id(d), dj}));
  EXPECT_FALSE(thread_of(te.s, {te.id(c), ci}));
}

// Threads do not divide the data axes of a local stage, because each thread has its own copy;
// threads may divide the stage's reduction.
TEST_F(Attach, ThreadsOfLocalStages) {
  const IterVar k = reduce_axis("k", 6);
  const Tensor sums =
      compute("S", {4}, [&](const ir::Exprs& x) { return sum(at(a, {x[0], k->var}), {k}); });
  Te local({sums});
  const Tensor own = local.cache_write(sums, "local");
  const IterVar row = local.axis(own, 0), part = local.reduction(own);
  local.bind(own, row, "threadIdx.y");
  local.s.bind(local.id(own), part, ir::make_thread_axis({false, 0}), line(15));
  EXPECT_FALSE(thread_of(local.s, {local.id(own), row}));
  EXPECT_EQ(to_string(thread_of(local.s, {local.id(own), part})->tag), "threadIdx.x");
  EXPECT_TRUE(threads_share_reduction(local.s, local.id(own)));
  EXPECT_FALSE(threads_share_reduction(local.s, local.id(sums)));
}

TEST_F(Attach, InferredScopes) {
  EXPECT_EQ(memory(d), MemoryScope::Global);
  te.compute_at(c, d, dj);
  te.compute_at(b, d, di);
  EXPECT_EQ(memory(c), MemoryScope::Global);
  te.bind(d, di, "blockIdx.x");
  EXPECT_EQ(memory(c), MemoryScope::Shared);
  te.bind(d, dj, "threadIdx.x");
  EXPECT_EQ(memory(c), MemoryScope::Local);
  EXPECT_EQ(memory(b), MemoryScope::Shared);
  EXPECT_EQ(memory(d), MemoryScope::Global);
  te.bind(d, di, "threadIdx.y");
  te.bind(d, dj, "blockIdx.y");
  EXPECT_EQ(memory(c), MemoryScope::Local);
  EXPECT_EQ(memory(b), MemoryScope::Local);
}

TEST_F(Attach, StatedScopes) {
  te.compute_at(c, d, dj);
  te.bind(d, dj, "threadIdx.x");
  te.set_scope(c, "texture:nhwc");
  EXPECT_EQ(scope_of(te.s, te.id(c)),
            (ir::StorageScope{MemoryScope::Global, ir::TextureRule::Nhwc}));
}

}  // namespace
}  // namespace texloom::schedule
