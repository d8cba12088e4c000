// Tests inferring the extents of loops, and the indices of axes in terms of loops.
#include <gtest/gtest.h>

#include "tests/schedule/bounds/bounds_fixture.h"

namespace texloom::schedule {
namespace {

using namespace testing;
using ir::Exprs;
using ir::IterVar;
using ir::make_int;
using ir::Tensor;

// One output: B over 10 x 12.
class BoundsLoops : public ::testing::Test {
 protected:
  Tensor a = placeholder("A", {10, 12}), b = plus_one(a, "B");
  Te te{{b}};
  IterVar i = te.axis(b, 0), j = te.axis(b, 1);
};

TEST_F(BoundsLoops, Plain) {
  EXPECT_EQ(region(te, b), "0 + 10, 0 + 12");
  EXPECT_EQ(loops(te, b), "i 10, j 12");
  EXPECT_EQ(indices(te, b), "i, j");
  EXPECT_EQ(positions(te, b), "i, j");
  EXPECT_EQ(guards(te, b), " | ");
  EXPECT_TRUE(infer_bounds(te.s).of(te.id(a)).loops.empty());
}

TEST_F(BoundsLoops, SplitThatDivides) {
  te.split(b, j, 4);
  EXPECT_EQ(loops(te, b), "i 10, j.outer 3, j.inner 4");
  EXPECT_EQ(indices(te, b), "i, j.outer * 4 + j.inner");
  EXPECT_EQ(guards(te, b), " | ");
}

TEST_F(BoundsLoops, SplitThatDoesNotDivide) {
  te.split(b, i, 4);
  EXPECT_EQ(loops(te, b), "i.outer 3, i.inner 4, j 12");
  EXPECT_EQ(positions(te, b), "i.outer * 4 + i.inner, j");
  EXPECT_EQ(guards(te, b), "i.outer * 4 + i.inner < 10 | ");
}

TEST_F(BoundsLoops, SplitByParts) {
  te.split_nparts(b, j, 3);
  EXPECT_EQ(loops(te, b), "i 10, j.outer 3, j.inner 4");
  te.split_nparts(b, i, 4);
  EXPECT_EQ(loops(te, b), "i.outer 4, i.inner 3, j.outer 3, j.inner 4");
  EXPECT_EQ(indices(te, b), "i.outer * 3 + i.inner, j.outer * 4 + j.inner");
}

TEST_F(BoundsLoops, SplitByOne) {
  te.split(b, i, 1);
  te.split_nparts(b, j, 1);
  EXPECT_EQ(loops(te, b), "i.outer 10, i.inner 1, j.outer 1, j.inner 12");
}

// A factor above the extent is reduced to the extent.
TEST_F(BoundsLoops, LargeFactorsShrink) {
  te.split(b, i, 16);
  te.split_nparts(b, j, 16);
  EXPECT_EQ(loops(te, b), "i.outer 1, i.inner 10, j.outer 12, j.inner 1");
  EXPECT_EQ(guards(te, b), " | ");
}

// A part keeps the factor as its extent if the part, or a loop made from it, is bound to a thread.
TEST_F(BoundsLoops, ThreadsKeepTheirExtent) {
  const auto first = te.split(b, i, 16);
  te.bind(b, first.inner, "threadIdx.x");
  EXPECT_EQ(loops(te, b), "i.outer 1, i.inner 16, j 12");
  EXPECT_EQ(guards(te, b), "i.inner < 10 | ");
}

TEST_F(BoundsLoops, OtherPartIsAThread) {
  const auto first = te.split(b, i, 16);
  te.bind(b, first.outer, "threadIdx.x");
  EXPECT_EQ(loops(te, b), "i.outer 1, i.inner 16, j 12");
}

TEST_F(BoundsLoops, UnrolledPartsShrink) {
  te.unroll(b, te.split(b, i, 16).inner);
  EXPECT_EQ(loops(te, b), "i.outer 1, i.inner 10, j 12");
}

TEST_F(BoundsLoops, FusedPartsOfAThread) {
  const auto first = te.split(b, i, 16);
  te.bind(b, te.fuse(b, {first.inner, j}), "threadIdx.x");
  EXPECT_EQ(loops(te, b), "i.outer 1, i.inner.j.fused 192");
}

TEST_F(BoundsLoops, FusedOuterPartOfAThread) {
  te.reorder(b, {j, i});
  const auto first = te.split(b, i, 16);
  te.bind(b, te.fuse(b, {j, first.outer}), "threadIdx.x");
  EXPECT_EQ(loops(te, b), "j.i.outer.fused 12, i.inner 16");
}

TEST_F(BoundsLoops, SplitPartsOfAThread) {
  const auto first = te.split(b, i, 16);
  const auto second = te.split(b, first.inner, 8);
  te.bind(b, second.outer, "threadIdx.x");
  EXPECT_EQ(loops(te, b), "i.outer 1, i.inner.outer 2, i.inner.inner 8, j 12");
  const auto third = te.split(b, second.inner, 4);
  te.bind(b, third.inner, "threadIdx.y");
  EXPECT_EQ(loops(te, b),
            "i.outer 1, i.inner.outer 2, i.inner.inner.outer 2, i.inner.inner.inner 4, j 12");
}

TEST_F(BoundsLoops, SplitInnerPartOfAThread) {
  const auto first = te.split(b, i, 16);
  const auto second = te.split(b, first.inner, 8);
  te.bind(b, second.inner, "threadIdx.x");
  EXPECT_EQ(loops(te, b), "i.outer 1, i.inner.outer 2, i.inner.inner 8, j 12");
}

TEST_F(BoundsLoops, ExactSplitsKeepTheirFactor) {
  te.s.split_exactly(te.id(b), i, 16);
  EXPECT_EQ(loops(te, b), "i.outer 1, i.inner 16, j 12");
}

TEST_F(BoundsLoops, Fuse) {
  te.fuse(b, {i, j});
  EXPECT_EQ(loops(te, b), "i.j.fused 120");
  EXPECT_EQ(indices(te, b), "floordiv(i.j.fused, 12), floormod(i.j.fused, 12)");
  EXPECT_EQ(guards(te, b), " | ");
}

TEST_F(BoundsLoops, FuseAndSplit) {
  te.split(b, te.fuse(b, {i, j}), 50);
  EXPECT_EQ(loops(te, b), "i.j.fused.outer 3, i.j.fused.inner 50");
  EXPECT_EQ(indices(te, b),
            "floordiv(i.j.fused.outer * 50 + i.j.fused.inner, 12), "
            "floormod(i.j.fused.outer * 50 + i.j.fused.inner, 12)");
  EXPECT_EQ(guards(te, b),
            "i.j.fused.outer * 50 + i.j.fused.inner < 120, "
            "floordiv(i.j.fused.outer * 50 + i.j.fused.inner, 12) < 10 | ");
}

TEST_F(BoundsLoops, FuseOfNone) {
  te.fuse(b, {});
  EXPECT_EQ(loops(te, b), "singleton 1, i 10, j 12");
}

TEST_F(BoundsLoops, SplitOfAUnitAxis) {
  te.split(b, te.fuse(b, {}), 4);
  EXPECT_EQ(loops(te, b), "singleton.outer 1, singleton.inner 1, i 10, j 12");
  EXPECT_EQ(guards(te, b), " | ");
}

TEST_F(BoundsLoops, Reductions) {
  const IterVar k = reduce_axis("k", 10, 2);
  const Tensor c =
      compute("C", {5}, [&](const Exprs& x) { return sum(at(a, {k->var - 2, x[0]}), {k}); });
  Te own({c});
  EXPECT_EQ(loops(own, c), "i 5, k 10");
  EXPECT_EQ(indices(own, c), "i, k + 2");
  own.split(c, k, 4);
  EXPECT_EQ(loops(own, c), "i 5, k.outer 3, k.inner 4");
  EXPECT_EQ(indices(own, c), "i, k.outer * 4 + k.inner + 2");
  EXPECT_EQ(guards(own, c), " | k.outer * 4 + k.inner < 10");
  own.split(c, own.axis(c, 0), 2);
  EXPECT_EQ(guards(own, c), "i.outer * 2 + i.inner < 5 | k.outer * 4 + k.inner < 10");
}

// Loops may have as many iterations as int32 indices can count, but no more.
TEST_F(BoundsLoops, ThirtyTwoBits) {
  const int64_t limit = 2147483647;  // a prime
  const Tensor big = compute("B", {limit, 1}, [](const Exprs&) { return make_int(0); });
  Te fused({big});
  fused.fuse(big, {fused.axis(big, 0), fused.axis(big, 1)});
  EXPECT_EQ(loops(fused, big), "i.j.fused 2147483647");
  Te split({big});
  split.split(big, split.axis(big, 0), 2);
  EXPECT_EQ(faults([&] { infer_bounds(split.s); }),
            "TL4007 te.py:2: the axis 'i' of 'B' would run over 2 x 1073741824 points, too many "
            "for a 32-bit index");
  const Tensor wide = compute("W", {65536, 32768}, [](const Exprs&) { return make_int(0); });
  Te too_wide({wide});
  too_wide.fuse(wide, {too_wide.axis(wide, 0), too_wide.axis(wide, 1)}, 33);
  EXPECT_EQ(faults([&] { infer_bounds(too_wide.s); }),
            "TL4007 te.py:33: the axis 'i.j.fused' of 'W' would run over 65536 x 32768 points, too "
            "many for a 32-bit index");
}

TEST_F(BoundsLoops, SymbolicExtents) {
  const ir::Expr n = ir::make_var("n");
  const IterVar axis =
      make_iter_var(ir::make_var("i"), make_int(0), n, ir::IterKind::Data, line(2));
  const IterVar k =
      make_iter_var(ir::make_var("k"), make_int(0), n * 8, ir::IterKind::Reduction, line(3));
  const Tensor c = output_of(make_compute("C", "", {axis}, sum(make_int(1), {k}), line(8)));
  Te te({c});
  te.split(c, axis, 4);
  te.split(c, k, 8);
  EXPECT_EQ(loops(te, c), "i.outer floordiv(n + 3, 4), i.inner 4, k.outer n, k.inner 8");
  EXPECT_EQ(to_string(infer_bounds(te.s).of(te.id(c)).guards.front()), "i.outer * 4 + i.inner < n");
  const IterVar none =
      make_iter_var(ir::make_var("i"), make_int(0), n - n, ir::IterKind::Data, line(2));
  const Tensor d = output_of(make_compute("D", "", {none}, make_int(0), line(8)));
  EXPECT_EQ(faults([&] { infer_bounds(Te({d}).s); }),
            "TL1001 te.py:8: the shape of 'D' has the extent 0, which is not positive");
}

}  // namespace
}  // namespace texloom::schedule
