// Tests which operands are always evaluated, and which expressions may fail.
#include "ir/evaluation.h"

#include <gtest/gtest.h>

#include "tests/ir/accesses.h"

namespace texloom::ir {
namespace {

class Evaluation : public ::testing::Test {
 protected:
  Expr i = make_var("i"), c = make_var("c", kBool), zero = make_int(0);
  Buffer x = global("x", kInt32, 4), t = texture("t", kInt32, 4, 4);
};

TEST_F(Evaluation, TheFirstOperandDecides) {
  for (const Expr& lazy : {make_select(c, i, zero), c && make_var("d", kBool),
                           make_binary(BinaryOp::Or, c, make_var("d", kBool))}) {
    EXPECT_TRUE(always_evaluates(lazy, 0)) << to_string(lazy);
    EXPECT_FALSE(always_evaluates(lazy, 1)) << to_string(lazy);
  }
  EXPECT_FALSE(always_evaluates(make_select(c, i, zero), 2));
  EXPECT_TRUE(always_evaluates(i + zero + i, 1));
  EXPECT_TRUE(always_evaluates(i < make_var("n"), 1));
  EXPECT_TRUE(always_evaluates(
      make_fma(make_var("a", kFloat32), make_var("b", kFloat32), make_var("d", kFloat32)), 2));
}

TEST_F(Evaluation, Divisions) {
  EXPECT_TRUE(may_fail(floordiv(make_int(100), i)));
  EXPECT_TRUE(may_fail(make_binary(BinaryOp::Mod, i, make_var("n"))));
  EXPECT_FALSE(may_fail(floordiv(i, 3)));
  EXPECT_FALSE(may_fail(floormod(i, make_int(-3))));
  EXPECT_TRUE(may_fail(make_binary(BinaryOp::FloorDiv, i, zero)));
  const Expr lanes = make_ramp(i, make_int(1), 4);
  EXPECT_FALSE(may_fail(floordiv(lanes, make_broadcast(make_int(2), 4))));
  EXPECT_FALSE(
      may_fail(floordiv(lanes, make_pack({make_int(1), make_int(2), make_int(3), make_int(4)}))));
  EXPECT_TRUE(may_fail(floordiv(lanes, make_pack({zero, make_int(2), make_int(3), make_int(4)}))));
  EXPECT_TRUE(may_fail(floordiv(lanes, make_ramp(zero, make_int(1), 4))));
  EXPECT_FALSE(
      may_fail(make_binary(BinaryOp::Div, make_var("a", kFloat32), make_var("b", kFloat32))));
  EXPECT_FALSE(may_fail(i + zero));
}

TEST_F(Evaluation, LoadsButNoTexels) {
  EXPECT_TRUE(may_fail(at(x, 0)));
  EXPECT_FALSE(may_fail(texel(t, zero, zero)));
  Failures failures;
  EXPECT_TRUE(failures.possible_in(at(x, 0)));
  EXPECT_TRUE(failures.possible_in(at(x, 0) + make_int(1)));
  EXPECT_TRUE(failures.possible_in(make_int(1) + at(x, 0)));
  EXPECT_FALSE(failures.possible_in(texel(t, zero, zero)));
  EXPECT_TRUE(failures.possible_in(texel(t, at(x, 0), zero)));
  EXPECT_TRUE(failures.possible_in(floordiv(make_int(1), i) + make_int(1)));
}

TEST_F(Evaluation, ForeignCalls) {
  EXPECT_TRUE(may_fail(make_foreign_call(kInt32, "f", true, {i})));
  EXPECT_FALSE(may_fail(make_call(Intrinsic::Exp, {make_var("a", kFloat32)})));
}

}  // namespace
}  // namespace texloom::ir
