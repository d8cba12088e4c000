// Tests bringing schedules into the form that later passes expect.
#include <gtest/gtest.h>

#include "lower/pipeline.h"
#include "tests/lower/passes.h"

namespace texloom::lower {
namespace {

using namespace testing;
using namespace schedule::testing;
using ir::Exprs;
using ir::IterVar;
using ir::LoopKind;
using ir::Tensor;
using schedule::operation_of;

// The schedule after the pass.
Te prepared(const Te& te, const std::vector<Argument>& arguments = {}) {
  Lowering lowering = lowering_of(te, {});
  lowering.arguments = arguments;
  prepare_schedule(lowering);
  Te result = te;
  result.s = lowering.schedule;
  return result;
}

TEST(PrepareSchedule, ArgumentsBecomeOutputs) {
  const Tensor a = placeholder("A", {8}), b = plus_one(a, "B"), c = plus_one(b, "C");
  const Te te({c});
  EXPECT_FALSE(prepared(te, {{c, {}}}).stage(b).is_output);
  const Te result = prepared(te, {{a, {}}, {b, {}}});
  EXPECT_TRUE(result.stage(b).is_output);
  EXPECT_FALSE(result.stage(a).is_output);
  EXPECT_FALSE(result.stage(b).scope.has_value());
}

// A later pass refuses the attached stage with its own message.
TEST(PrepareSchedule, AttachedArgumentsAreNoOutputs) {
  const Tensor a = placeholder("A", {8}), b = plus_one(a, "B"), c = plus_one(b, "C");
  Te te({c});
  te.compute_at(b, c, te.axis(c, 0));
  EXPECT_FALSE(prepared(te, {{b, {}}}).stage(b).is_output);
}

// This pass, not the directive, checks outputs: a later directive may return them to the root.
TEST(PrepareSchedule, OutputsAreAtTheRoot) {
  const Tensor a = placeholder("A", {8}), b = plus_one(a, "B"), c = plus_one(b, "C");
  Te te({b, c});
  te.compute_at(c, b, te.axis(b, 0));
  te.compute_inline(b);
  EXPECT_EQ(faults([&] { prepared(te); }),
            "TL3017 te.py:19: cannot inline 'B': it is an output of the schedule\n"
            "TL3017 te.py:18: 'C' cannot be computed inside 'B': it is an output of the schedule");
  te.compute_root(b);
  te.compute_root(c);
  EXPECT_EQ(faults([&] { prepared(te); }), "");
}

TEST(PrepareSchedule, DeclaredScopes) {
  const Tensor a = placeholder("A", {8, 4}), b = plus_one(a, "B"), other = placeholder("X", {4});
  Te te({b});
  te.set_scope(a, "texture:weight");
  const Te result = prepared(
      te, {{other, declaration("texture", {4})}, {a, declaration("texture", {8, 4})}, {b, {}}});
  EXPECT_EQ(result.stage(a).scope, ir::parse_scope("texture"));
  EXPECT_EQ(result.stage(a).scope_location.line, 80);
  EXPECT_FALSE(result.stage(b).scope.has_value());
}

// An input is in the caller's memory: check_schedule refuses a declaration that says otherwise.
TEST(PrepareSchedule, DeclaredScopesOfInputs) {
  const Tensor a = placeholder("A", {8, 4}), b = plus_one(a, "B");
  const Te result =
      prepared(Te({b}), {{a, declaration("local", {8, 4})}, {b, declaration("local", {8, 4})}});
  EXPECT_FALSE(result.stage(a).scope.has_value());
  EXPECT_EQ(result.stage(b).scope, ir::parse_scope("local"));
}

// Stages are inlined transitively, each read with its own indices.
TEST(PrepareSchedule, InlinedStages) {
  const Tensor a = placeholder("A", {8, 9});
  const Tensor b = compute("B", {9, 8}, [&](const Exprs& i) { return at(a, {i[1], i[0]}); });
  const Tensor c = compute("C", {8}, [&](const Exprs& i) {
    return at(b, {i[0] + 1, i[0]}) * at(b, {i[0], ir::make_int(2)});
  });
  const Tensor d = plus_one(c, "D");
  Te te({d});
  te.compute_inline(b);
  te.compute_inline(c);
  const Te result = prepared(te);
  EXPECT_EQ(to_string(result.stage(c).op->body), "A[i, i + 1] * A[2, i]");
  EXPECT_EQ(to_string(result.stage(d).op->body), "A[i, i + 1] * A[2, i] + 1.0");
  EXPECT_TRUE(result.stage(b).op.same_as(te.stage(b).op));
}

// A stage keeps its operation if nothing is inlined into it.
TEST(PrepareSchedule, NothingToInline) {
  const Tensor a = placeholder("A", {8}), b = plus_one(a, "B"), c = plus_one(b, "C");
  const Te te({c});
  EXPECT_TRUE(prepared(te).stage(c).op.same_as(operation_of(c)));
}

// -- The loop over the lanes of a texture.

class PrepareTexture : public ::testing::Test {
 protected:
  explicit PrepareTexture(int64_t last = 7) {
    a = placeholder("A", {8, last});
    b = plus_one(a, "B");
    te.emplace(Te({b}));
    te->set_scope(b, "texture");
    i = te->axis(b, 0);
    j = te->axis(b, 1);
  }
  static std::string leaves(const Te& te, const Tensor& t) { return names(te.stage(t).leaves); }
  const schedule::AxisAttributes* attributes(const Te& prepared_te, size_t leaf) const {
    return prepared_te.stage(b).attributes_of(prepared_te.stage(b).leaves[leaf]);
  }

  Tensor a, b;
  std::optional<Te> te;
  IterVar i, j;
};
struct PrepareTextureOfFour : PrepareTexture {
  PrepareTextureOfFour() : PrepareTexture(4) {}
};

// A stage attached at the lane axis is computed for a whole texel.
TEST(PrepareSchedule, StagesAtTheLaneAxis) {
  const Tensor a = placeholder("A", {8, 8}), p = plus_one(a, "P"), b = plus_one(p, "B");
  Te te({b});
  te.set_scope(b, "texture");
  te.compute_at(p, b, te.axis(b, 1));
  const Te result = prepared(te, {{b, {}}});
  const auto& split = std::get<schedule::SplitRelation>(result.stage(b).relations.back());
  EXPECT_TRUE(result.stage(p).attachment.axis.same_as(split.outer));
}

TEST_F(PrepareTexture, LanesAreVectorized) {
  const Te result = prepared(*te);
  EXPECT_EQ(leaves(result, b), "i, j.outer, j.inner");
  const auto& split = std::get<schedule::SplitRelation>(result.stage(b).relations.back());
  EXPECT_EQ(split.factor, 4);
  EXPECT_TRUE(split.exact);
  EXPECT_EQ(attributes(result, 0), nullptr);
  EXPECT_EQ(attributes(result, 1), nullptr);
  ASSERT_NE(attributes(result, 2), nullptr);
  EXPECT_EQ(attributes(result, 2)->loop, LoopKind::Vectorized);
  EXPECT_FALSE(attributes(result, 2)->thread);
  EXPECT_EQ(attributes(result, 2)->location.line, 21);
}

// The lane loop becomes innermost.
TEST_F(PrepareTexture, LanesAreInnermost) {
  te->reorder(b, {j, i});
  EXPECT_EQ(leaves(prepared(*te), b), "j.outer, i, j.inner");
}

// The lanes come from the innermost loop that the last axis was split or fused into.
TEST_F(PrepareTexture, LanesOfASplitAxis) {
  const auto parts = te->split(b, j, 4);
  te->bind(b, parts.outer, "threadIdx.x");
  te->vectorize(b, parts.inner);
  const Te result = prepared(*te);
  EXPECT_EQ(leaves(result, b), "i, j.outer, j.inner.outer, j.inner.inner");
  EXPECT_EQ(result.stage(b).attributes_of(parts.inner), nullptr);
  EXPECT_EQ(attributes(result, 2), nullptr);
  EXPECT_EQ(attributes(result, 3)->loop, LoopKind::Vectorized);
  EXPECT_EQ(attributes(result, 3)->location.line, 21);
}

// Binding or unrolling the whole axis applies to the loop over its texels.
TEST_F(PrepareTexture, BoundLastAxis) {
  te->bind(b, j, "threadIdx.x");
  const Te result = prepared(*te);
  ASSERT_NE(attributes(result, 1), nullptr);
  EXPECT_EQ(attributes(result, 1)->loop, LoopKind::Thread);
  EXPECT_EQ(to_string(attributes(result, 1)->thread->tag), "threadIdx.x");
  EXPECT_EQ(attributes(result, 2)->loop, LoopKind::Vectorized);
}

TEST_F(PrepareTexture, UnrolledLastAxis) {
  te->unroll(b, j);
  const Te result = prepared(*te);
  ASSERT_NE(attributes(result, 1), nullptr);
  EXPECT_EQ(attributes(result, 1)->loop, LoopKind::Unrolled);
}

TEST_F(PrepareTexture, LanesOfOneTexelAreOneThreads) {
  const auto parts = te->split(b, j, 4);
  te->bind(b, parts.inner, "threadIdx.x");
  EXPECT_EQ(faults([&] { prepared(*te); }),
            "TL3007 te.py:15: the axis 'j.inner' of the texture 'B' is bound to threadIdx.x, so "
            "several threads would write lanes of the same texel");
}

TEST_F(PrepareTextureOfFour, LanesOfOneTexelAreOneThreads) {
  te->bind(b, j, "threadIdx.x");
  EXPECT_EQ(faults([&] { prepared(*te); }),
            "TL3007 te.py:15: the axis 'j' of the texture 'B' is bound to threadIdx.x, so several "
            "threads would write lanes of the same texel");
}

TEST_F(PrepareTextureOfFour, OtherLoopsMayBeAnything) {
  te->bind(b, i, "threadIdx.y");
  te->unroll(b, j);
  EXPECT_EQ(leaves(prepared(*te), b), "i, j.outer, j.inner");
}

// Only stages that are at the root, are in textures, and have a last axis are changed.
TEST_F(PrepareTexture, OtherStagesKeepTheirLoops) {
  te->set_scope(b, "global");
  te->set_scope(a, "texture");
  EXPECT_EQ(leaves(prepared(*te), b), "i, j");
  const Tensor scalar = compute("S", {}, [](const Exprs&) { return ir::make_int(0); });
  Te of_scalar({scalar});
  of_scalar.set_scope(scalar, "texture");
  EXPECT_EQ(leaves(prepared(of_scalar), scalar), "");
}

TEST_F(PrepareTexture, AttachedStagesToo) {
  const Tensor c = plus_one(b, "C");
  Te own({c});
  own.set_scope(b, "texture");
  own.compute_at(b, c, own.axis(c, 0));
  EXPECT_EQ(leaves(prepared(own), b), "i, j.outer, j.inner");
}

// A declared scope of an argument acts like any other scope.
TEST_F(PrepareTexture, DeclaredTextures) {
  te->set_scope(b, "global");
  EXPECT_EQ(leaves(prepared(*te, {{b, declaration("texture", {8, 7})}}), b), "i, j.outer, j.inner");
}

}  // namespace
}  // namespace texloom::lower
