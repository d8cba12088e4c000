// Tests split, fuse and reorder.
#include <gtest/gtest.h>

#include "schedule/ignored_annotation.h"
#include "tests/schedule/te.h"

namespace texloom::schedule {
namespace {

using namespace testing;
using ir::Exprs;
using ir::IterKind;
using ir::IterVar;
using ir::Tensor;

// B(i, j, k), reduced over r and s.
class LoopDirectives : public ::testing::Test {
 protected:
  std::string leaves() const { return names(te.stage(b).leaves); }

  IterVar r = reduce_axis("r", 6), s = reduce_axis("s", 5);
  Tensor a = placeholder("A", {30});
  Tensor b = compute("B", {8, 9, 10},
                     [this](const Exprs&) { return sum(at(a, {r->var * 5 + s->var}), {r, s}); });
  Te te{{b}};
  IterVar i = te.axis(b, 0), j = te.axis(b, 1), k = te.axis(b, 2);
};

TEST_F(LoopDirectives, SplitByFactor) {
  const auto [outer, inner] = te.split(b, j, 4);
  EXPECT_EQ(leaves(), "i, j.outer, j.inner, k, r, s");
  EXPECT_TRUE(te.stage(b).leaves[1].same_as(outer));
  EXPECT_TRUE(te.stage(b).leaves[2].same_as(inner));
  ASSERT_EQ(te.stage(b).relations.size(), 1U);
  const SplitRelation& split = std::get<SplitRelation>(te.stage(b).relations[0]);
  EXPECT_TRUE(split.parent.same_as(j));
  EXPECT_TRUE(split.outer.same_as(outer));
  EXPECT_TRUE(split.inner.same_as(inner));
  EXPECT_EQ(split.factor, 4);
  EXPECT_EQ(split.nparts, 0);
  EXPECT_FALSE(split.exact);
}

TEST_F(LoopDirectives, SplitByParts) {
  te.split_nparts(b, j, 1);
  const SplitRelation& split = std::get<SplitRelation>(te.stage(b).relations[0]);
  EXPECT_EQ(split.factor, 0);
  EXPECT_EQ(split.nparts, 1);
  EXPECT_FALSE(split.exact);
}

TEST_F(LoopDirectives, SplitExactly) {
  te.s.split_exactly(te.id(b), k, 4);
  EXPECT_EQ(leaves(), "i, j, k.outer, k.inner, r, s");
  const SplitRelation& split = std::get<SplitRelation>(te.stage(b).relations[0]);
  EXPECT_EQ(split.factor, 4);
  EXPECT_EQ(split.nparts, 0);
  EXPECT_TRUE(split.exact);
}

// Parts have the kind of the axis and the line of the split.
TEST_F(LoopDirectives, PartsOfASplit) {
  const auto [outer, inner] = te.split(b, r, 1);
  EXPECT_EQ(outer->kind, IterKind::Reduction);
  EXPECT_EQ(inner->kind, IterKind::Reduction);
  EXPECT_EQ(outer->var->type, ir::kInt32);
  EXPECT_EQ(outer->location.line, 3);
  EXPECT_EQ(inner->location.line, 3);
  EXPECT_FALSE(outer->extent);
  EXPECT_EQ(te.split(b, i, 2).outer->kind, IterKind::Data);
}

TEST_F(LoopDirectives, BadSplits) {
  EXPECT_EQ(faults([&] { te.s.split(te.id(b), i, 2, 3, line(11)); }),
            "TL2004 te.py:11: split of 'i' of 'B' is given both a factor and nparts");
  EXPECT_EQ(faults([&] { te.s.split(te.id(b), i, {}, {}, line(11)); }),
            "TL2004 te.py:11: split of 'i' of 'B' is given neither a factor nor nparts");
  EXPECT_EQ(faults([&] { te.split(b, i, 0); }),
            "TL2004 te.py:11: cannot split 'i' of 'B': factor = 0 is not positive");
  EXPECT_EQ(faults([&] { te.split_nparts(b, i, -3); }),
            "TL2004 te.py:12: cannot split 'i' of 'B': nparts = -3 is not positive");
  EXPECT_EQ(leaves(), "i, j, k, r, s");
}

TEST_F(LoopDirectives, BoundAxesAreNeitherSplitNorFused) {
  te.bind(b, i, "blockIdx.x");
  EXPECT_EQ(faults([&] { te.split(b, i, 2); }),
            "TL2016 te.py:11: cannot split 'i' of 'B': it is already bound to blockIdx.x");
  EXPECT_EQ(faults([&] { te.fuse(b, {i, j}); }),
            "TL2016 te.py:13: cannot fuse 'i' of 'B': it is already bound to blockIdx.x");
  EXPECT_EQ(leaves(), "i, j, k, r, s");
}

// An annotation is lost when its loop is split or fused.
TEST_F(LoopDirectives, AnnotationsOfAxesThatAreSplitOrFused) {
  te.unroll(b, j);
  te.vectorize(b, i);
  te.bind(b, k, "threadIdx.x");
  const std::vector<Diagnostic> dropped =
      dropped_annotations(te.stage(b), {i, j, k}, "fused", line(13));
  ASSERT_EQ(dropped.size(), 2U);
  EXPECT_EQ(dropped[0].message,
            "the axis 'i' of 'B' was vectorized and is now fused, which drops the annotation");
  EXPECT_EQ(dropped[1].message,
            "the axis 'j' of 'B' was unrolled and is now fused, which drops the annotation");
  EXPECT_EQ(dropped[0].location.line, 13);
  EXPECT_EQ(dropped[0].code, Code::AnnotationIgnored);
  const auto [outer, inner] = te.split(b, j, 2);
  te.s.annotate(te.id(b), outer, ir::LoopKind::Parallel, line(18));
  const IterVar fused = te.fuse(b, {i, outer});
  for (const IterVar& axis : {i, j, outer, inner, fused}) {
    EXPECT_EQ(te.stage(b).attributes_of(axis), nullptr) << axis->name();
  }
}

// The error says what happened to an axis that is no longer a leaf.
TEST_F(LoopDirectives, OnlyLeaves) {
  const auto [outer, inner] = te.split(b, i, 2);
  te.fuse(b, {j, k});
  const std::string help = "use a leaf axis of this stage: i.outer, i.inner, j.k.fused, r, s";
  EXPECT_EQ(faults([&] { te.split(b, i, 2); }),
            "TL2005 te.py:11: split on the stage of 'B': the axis 'i' has already been split into "
            "'i.outer' and 'i.inner'");
  EXPECT_EQ(faults([&] { te.fuse(b, {outer, k}); }),
            "TL2005 te.py:13: fuse on the stage of 'B': the axis 'k' has already been fused into "
            "'j.k.fused'");
  EXPECT_EQ(faults([&] { te.fuse(b, {j}); }),
            "TL2005 te.py:13: fuse on the stage of 'B': the axis 'j' has already been fused into "
            "'j.k.fused'");
  EXPECT_EQ(faults([&] { te.reorder(b, {outer, data_axis("i.inner", 2)}); }),
            "TL2005 te.py:14: reorder on the stage of 'B': the axis 'i.inner' is not an axis of "
            "this stage");
  try {
    te.split(b, i, 2);
  } catch (const UserError& error) {
    EXPECT_EQ(error.diagnostics()[0].help, help);
  }
}

TEST_F(LoopDirectives, PlaceholdersHaveNoLoops) {
  const std::string problem = " to 'A': it is a placeholder and has no loops to schedule";
  EXPECT_EQ(faults([&] { te.split(a, i, 2); }), "TL2015 te.py:11: cannot apply split" + problem);
  EXPECT_EQ(faults([&] { te.fuse(a, {i, j}); }), "TL2015 te.py:13: cannot apply fuse" + problem);
  EXPECT_EQ(faults([&] { te.reorder(a, {}); }), "TL2015 te.py:14: cannot apply reorder" + problem);
}

TEST_F(LoopDirectives, Fuse) {
  const IterVar fused = te.fuse(b, {j, k});
  EXPECT_EQ(leaves(), "i, j.k.fused, r, s");
  EXPECT_TRUE(te.stage(b).leaves[1].same_as(fused));
  EXPECT_EQ(fused->kind, IterKind::Data);
  EXPECT_EQ(fused->location.line, 13);
  ASSERT_EQ(te.stage(b).relations.size(), 1U);
  const FuseRelation& fuse = std::get<FuseRelation>(te.stage(b).relations[0]);
  EXPECT_TRUE(fuse.outer.same_as(j));
  EXPECT_TRUE(fuse.inner.same_as(k));
  EXPECT_TRUE(fuse.fused.same_as(fused));
}

// The outer axis comes first, whatever the order of the arguments.
TEST_F(LoopDirectives, FuseInEitherOrder) {
  te.fuse(b, {k, j});
  EXPECT_EQ(leaves(), "i, j.k.fused, r, s");
  EXPECT_TRUE(std::get<FuseRelation>(te.stage(b).relations[0]).outer.same_as(j));
  te.fuse(b, {r, s});
  EXPECT_EQ(leaves(), "i, j.k.fused, r.s.fused");
}

TEST_F(LoopDirectives, FuseSeveral) {
  te.fuse(b, {i, j, k});
  EXPECT_EQ(leaves(), "i.j.fused.k.fused, r, s");
}

TEST_F(LoopDirectives, FuseSeveralBackwards) {
  te.fuse(b, {k, j, i});
  EXPECT_EQ(leaves(), "i.j.k.fused.fused, r, s");
}

// Alternating splits and fusions would double the length of an axis name each time.
TEST_F(LoopDirectives, LongNamesOfFusedAxes) {
  const auto fused_name = [](size_t outer, size_t inner) {
    const IterVar x = reduce_axis(std::string(outer, 'x'), 2);
    const IterVar y = reduce_axis(std::string(inner, 'y'), 3);
    const Tensor source = placeholder("A", {2, 3});
    const Tensor total =
        compute("B", {1}, [&](const Exprs&) { return sum(at(source, {x->var, y->var}), {x, y}); });
    return Te{{total}}.fuse(total, {x, y})->name();
  };
  EXPECT_EQ(fused_name(500, 500), std::string(500, 'x') + "." + std::string(500, 'y') + ".fused");
  EXPECT_EQ(fused_name(500, 501), "fused");
}

TEST_F(LoopDirectives, FuseOfOneIsIt) {
  EXPECT_TRUE(te.fuse(b, {j}).same_as(j));
  EXPECT_EQ(leaves(), "i, j, k, r, s");
}

TEST_F(LoopDirectives, FuseOfNone) {
  const IterVar unit = te.fuse(b, {});
  EXPECT_EQ(leaves(), "singleton, i, j, k, r, s");
  EXPECT_EQ(to_string(unit->extent), "1");
  EXPECT_EQ(to_string(unit->min), "0");
  EXPECT_EQ(unit->kind, IterKind::Data);
  EXPECT_EQ(unit->location.line, 13);
  EXPECT_TRUE(te.stage(b).relations.empty());
}

TEST_F(LoopDirectives, BadFuses) {
  EXPECT_EQ(faults([&] { te.fuse(b, {i, k}); }),
            "TL2009 te.py:13: cannot fuse 'i' and 'k': they are not adjacent");
  EXPECT_EQ(faults([&] { te.fuse(b, {k, i}); }),
            "TL2009 te.py:13: cannot fuse 'k' and 'i': they are not adjacent");
  EXPECT_EQ(faults([&] { te.fuse(b, {j, j}); }), "TL2009 te.py:13: cannot fuse 'j' with itself");
}

// A data axis fused with a reduction axis gives a reduction axis.
TEST_F(LoopDirectives, FuseOfBothKinds) {
  EXPECT_EQ(te.fuse(b, {k, r})->kind, IterKind::Reduction);
  EXPECT_EQ(leaves(), "i, j, k.r.fused, s");
}

// Only the named axes move, to positions that named axes had before.
TEST_F(LoopDirectives, Reorder) {
  te.reorder(b, {s, j, i});
  EXPECT_EQ(leaves(), "s, j, k, r, i");
  te.reorder(b, {});
  te.reorder(b, {k});
  EXPECT_EQ(leaves(), "s, j, k, r, i");
}

TEST_F(LoopDirectives, ReorderNamesEachOnce) {
  EXPECT_EQ(faults([&] { te.reorder(b, {k, i, k}); }),
            "TL2008 te.py:14: reorder names the axis 'k' twice");
  EXPECT_EQ(leaves(), "i, j, k, r, s");
}

}  // namespace
}  // namespace texloom::schedule
