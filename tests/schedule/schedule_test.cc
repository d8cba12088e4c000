// Stages of a schedule: their order, and how they are found.
#include "schedule/schedule.h"

#include <gtest/gtest.h>

#include "support/check.h"
#include "tests/schedule/te.h"

namespace texloom::schedule {
namespace {

using namespace testing;
using ir::Exprs;
using ir::Tensor;

std::string order(const Te& te) { return names(te.s, te.s.order()); }

Tensor product(const Tensor& a, const Tensor& b, std::string name) {
  return compute(std::move(name), {4}, [&](const Exprs& i) { return at(a, i) * at(b, i); });
}

// Inputs come before readers, in the order in which they are read.
TEST(Schedule, Order) {
  const Tensor a = placeholder("A", {4}), b = placeholder("B", {4});
  const Tensor c = plus_one(a, "C"), d = product(b, c, "D"), e = product(d, a, "E");
  EXPECT_EQ(order(Te({e})), "B, A, C, D, E");
  EXPECT_EQ(order(Te({c})), "A, C");
}

// A stage that two paths of different lengths reach still comes before both readers.
TEST(Schedule, OrderOfADiamond) {
  const Tensor a = placeholder("A", {4});
  const Tensor b = plus_one(a, "B"), c = plus_one(b, "C"), d = product(b, c, "D");
  const Tensor e = product(c, b, "E");
  EXPECT_EQ(order(Te({d})), "A, B, C, D");
  EXPECT_EQ(order(Te({e})), "A, B, C, E");
}

TEST(Schedule, Outputs) {
  const Tensor a = placeholder("A", {4});
  const Tensor b = plus_one(a, "B"), c = plus_one(b, "C"), d = plus_one(a, "D");
  const Te te({d, b, c});
  EXPECT_EQ(order(te), "A, D, B, C");
  EXPECT_FALSE(te.stage(a).is_output);
  EXPECT_TRUE(te.stage(b).is_output);
  EXPECT_TRUE(te.stage(c).is_output);
  const Te inner({c});
  EXPECT_FALSE(inner.stage(b).is_output);
}

TEST(Schedule, Stages) {
  const Tensor a = placeholder("A", {4, 6});
  const ir::IterVar k = reduce_axis("k", 6);
  const Tensor b = compute(
      "B", {4, 2}, [&](const Exprs& i) { return sum(at(a, {i[0], k->var}) + at(a, i), {k}); });
  const Te te({b});
  const Stage& stage = te.stage(b);
  EXPECT_EQ(stage.id, te.id(b));
  EXPECT_TRUE(stage.op.same_as(operation_of(b)));
  EXPECT_TRUE(stage.origin.same_as(operation_of(b)));
  EXPECT_EQ(names(stage.leaves), "i, j, k");
  EXPECT_TRUE(stage.is_leaf(k));
  EXPECT_FALSE(stage.is_leaf(reduce_axis("k", 6)));
  EXPECT_EQ(stage.attachment.kind, AttachKind::Root);
  EXPECT_FALSE(stage.scope.has_value());
  EXPECT_EQ(stage.attributes_of(k), nullptr);
}

TEST(Schedule, Attributes) {
  const Tensor a = placeholder("A", {4}), b = plus_one(a, "B");
  Te te({b});
  te.unroll(b, te.axis(b, 0));
  ASSERT_NE(te.stage(b).attributes_of(te.axis(b, 0)), nullptr);
  EXPECT_EQ(te.stage(b).attributes_of(te.axis(b, 0))->loop, ir::LoopKind::Unrolled);
}

TEST(Schedule, Find) {
  const Tensor a = placeholder("A", {4}), b = plus_one(a, "B"), c = plus_one(a, "C");
  const Te te({b});
  EXPECT_EQ(te.s.find(operation_of(a)), std::optional(te.id(a)));
  EXPECT_EQ(te.s.find(operation_of(c)), std::nullopt);
  EXPECT_EQ(te.s.producer(output_of(operation_of(b))), te.id(b));
  EXPECT_THROW(te.s.producer(c), InternalError);
}

// Readers are in order, each once, however often it reads the stage.
TEST(Schedule, Readers) {
  const Tensor a = placeholder("A", {4});
  const Tensor b = plus_one(a, "B"), c = product(b, a, "C"), d = product(b, c, "D");
  const Te te({d});
  EXPECT_EQ(names(te.s, te.s.readers_of(te.id(a))), "B, C");
  EXPECT_EQ(names(te.s, te.s.readers_of(te.id(b))), "C, D");
  EXPECT_EQ(names(te.s, te.s.readers_of(te.id(c))), "D");
  EXPECT_EQ(names(te.s, te.s.readers_of(te.id(d))), "");
}

TEST(Schedule, SetBody) {
  const Tensor a = placeholder("A", {4});
  const ir::IterVar i = data_axis("i", 4), k = reduce_axis("k", 4), r = reduce_axis("r", 2);
  const Tensor b = output_of(make_compute("B", "tagged", {i}, sum(at(a, {k->var}), {k}), line(8)));
  Te te({b});
  te.s.set_body(te.id(b), sum(at(a, {r->var}), {r}));
  const Op op = te.stage(b).op;
  EXPECT_FALSE(op.same_as(te.stage(b).origin));
  EXPECT_EQ(op->kind, OperationKind::Compute);
  EXPECT_EQ(op->name, "B");
  EXPECT_EQ(op->tag, "tagged");
  EXPECT_EQ(op->types, std::vector<ir::Type>{ir::kFloat32});
  ASSERT_EQ(op->shape.size(), 1U);
  EXPECT_EQ(names(op->axes), "i");
  EXPECT_EQ(names(op->reduce_axes), "r");
  EXPECT_EQ(to_string(op->body), "reduce(sum, [r < 2], A[r])");
  EXPECT_EQ(op->location.line, 8);
  EXPECT_EQ(te.s.find(op), std::optional(te.id(b)));
  EXPECT_EQ(names(te.stage(b).leaves), "i, r");
  te.s.set_body(te.id(b), at(a, {i->var}));
  EXPECT_TRUE(te.stage(b).op->reduce_axes.empty());
  EXPECT_EQ(names(te.stage(b).leaves), "i");
}

TEST(Schedule, SetBodyIsBounded) {
  const Tensor a = placeholder("A", {4}), b = plus_one(a, "B");
  Te te({b});
  ir::Expr body = te.axis(b, 0)->var;
  while (body->size <= ir::kMaxSize) body = body * body;
  EXPECT_EQ(faults([&] { te.s.set_body(te.id(b), body); }).substr(0, 43),
            "TL3018 te.py:4: the expression of 'B' has m");
}

// A change to a copy of a schedule does not change the original.
TEST(Schedule, CopiesAreIndependent) {
  const Tensor a = placeholder("A", {4}), b = plus_one(a, "B");
  Te te({b});
  Te copy = te;
  copy.split(b, copy.axis(b, 0), 2);
  EXPECT_EQ(names(te.stage(b).leaves), "i");
  EXPECT_EQ(names(copy.stage(b).leaves), "i.outer, i.inner");
}

}  // namespace
}  // namespace texloom::schedule
