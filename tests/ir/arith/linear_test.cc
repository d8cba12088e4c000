#include "ir/arith/linear.h"

#include <gtest/gtest.h>

#include <limits>

#include "ir/ir.h"

namespace texloom::ir::arith {
namespace {

class LinearTest : public testing::Test {
 protected:
  static std::string text(const LinearSum& sum) { return to_string(sum.to_expr(kInt32)); }
  LinearSum sum(int64_t of_x, int64_t of_y, int64_t constant) {
    LinearSum result = LinearSum::constant_sum(constant);
    if (of_x != 0) result = result.plus(LinearSum::term({x, of_x}), 1);
    if (of_y != 0) result = result.plus(LinearSum::term({y, of_y}), 1);
    return result;
  }
  Expr x = make_var("x"), y = make_var("y");
};

TEST_F(LinearTest, Atoms) {
  EXPECT_EQ(text(LinearSum::atom(x)), "x");
  EXPECT_EQ(text(LinearSum::atom(make_int(7))), "7");
  EXPECT_TRUE(LinearSum::atom(make_int(7)).is_constant());
  EXPECT_FALSE(LinearSum::atom(x).is_constant());
  EXPECT_EQ(LinearSum::constant_sum(-3).constant, -3);
  const LinearSum single = LinearSum::atom(x);
  ASSERT_NE(single.single_atom(), nullptr);
  EXPECT_TRUE(single.single_atom()->same_as(x));
  EXPECT_EQ(sum(2, 0, 0).single_atom(), nullptr);
  EXPECT_EQ(sum(1, 0, 1).single_atom(), nullptr);
  EXPECT_EQ(sum(1, 1, 0).single_atom(), nullptr);
  EXPECT_EQ(sum(0, 0, 0).single_atom(), nullptr);
}

TEST_F(LinearTest, Plus) {
  EXPECT_EQ(text(sum(2, 3, 4).plus(sum(5, -1, 6), 1)), "x * 7 + y * 2 + 10");
  EXPECT_EQ(text(sum(2, 3, 4).plus(sum(5, -1, 6), -1)), "y * 4 - x * 3 - 2");
  EXPECT_EQ(text(sum(2, 0, 0).plus(sum(0, 3, 0), -1)), "x * 2 - y * 3");
  const LinearSum none = sum(2, 3, 4).plus(sum(2, 3, 4), -1);
  EXPECT_TRUE(none.is_constant());
  EXPECT_EQ(none.constant, 0);
  // Atoms are the same when they are equal, not only when they are one node.
  const LinearSum a = LinearSum::atom(floordiv(x, 3)), b = LinearSum::atom(floordiv(x, 3));
  EXPECT_EQ(text(a.plus(b, 1)), "floordiv(x, 3) * 2");
}

TEST_F(LinearTest, Times) {
  EXPECT_EQ(text(sum(2, -3, 4).times(-2).value()), "y * 6 - x * 4 - 8");
  EXPECT_TRUE(sum(2, 3, 4).times(0).value().is_constant());
  EXPECT_EQ(sum(2, 3, 4).times(0).value().constant, 0);
  const int64_t large = std::numeric_limits<int64_t>::max() / 2;
  EXPECT_TRUE(sum(2, 0, 2).times(large).has_value());
  EXPECT_FALSE(sum(3, 0, 0).times(large).has_value());
  EXPECT_FALSE(sum(0, 0, 3).times(large).has_value());
}

TEST_F(LinearTest, Division) {
  const auto [whole, rest] = sum(8, 3, 10).split_multiples(4);
  EXPECT_EQ(text(whole), "x * 8 + 8");
  EXPECT_EQ(text(rest), "y * 3 + 2");
  EXPECT_EQ(text(whole.divided(4)), "x * 2 + 2");
  const auto [below, above] = sum(-8, 0, -10).split_multiples(4);
  EXPECT_EQ(text(below), "x * -8 - 12");
  EXPECT_EQ(text(above), "2");
  EXPECT_EQ(text(below.divided(4)), "x * -2 - 3");
}

TEST_F(LinearTest, Bounds) {
  Ranges ranges;
  ranges.set(x, {0, 7});
  ranges.set(y, {-1, 2});
  EXPECT_EQ(sum(2, -3, 4).bounds(ranges), (Interval{-2, 21}));
  EXPECT_EQ(sum(0, 0, 4).bounds(ranges), Interval::point(4));
  ranges.forget(y);
  EXPECT_EQ(sum(2, -3, 4).bounds(ranges), Interval::everything());
}

TEST_F(LinearTest, Texts) {
  EXPECT_EQ(text(sum(0, 0, 0)), "0");
  EXPECT_EQ(text(sum(-1, 0, 0)), "x * -1");
  EXPECT_EQ(text(sum(-2, -3, 0)), "x * -2 - y * 3");
  EXPECT_EQ(text(sum(-2, 3, 0)), "y * 3 - x * 2");
  EXPECT_EQ(text(sum(1, 1, -5)), "x + y - 5");
  EXPECT_EQ(text(sum(1, 0, 5)), "x + 5");
  EXPECT_EQ(LinearSum::constant_sum(3).to_expr(kInt64)->type, kInt64);
}

TEST_F(LinearTest, KnowsWhatIsReadFromMemory) {
  const Buffer a = make_buffer("A", kInt32, {8}, MemoryScope::Global);
  const Buffer t = make_texture("T", kInt32, texture_layout({8, 4}, TextureRule::Activation));
  auto* tensor = new TensorNode;
  tensor->type = kInt32;
  tensor->shape = {make_int(8)};
  const Expr texel = make_lane(make_texture_load(t, x, y), make_int(0));
  const Expr read = make_tensor_read(Tensor(tensor), {x});
  const Expr converted = make_cast(kInt32, make_var("f", kFloat32));
  const Expr called = make_call(Intrinsic::Abs, {x});
  for (const Expr& e : {make_load(a, {x}), texel, read, converted, called}) {
    EXPECT_TRUE(LinearSum::atom(e).reads_memory()) << to_string(e);
    EXPECT_TRUE(LinearSum::atom(min(y, e + 1)).plus(sum(1, 0, 0), 1).reads_memory());
    EXPECT_TRUE(sum(1, 0, 0).plus(LinearSum::atom(e), 1).reads_memory());
  }
  EXPECT_FALSE(sum(1, 2, 3).reads_memory());
  EXPECT_FALSE(LinearSum::atom(min(x, y)).reads_memory());
}

}  // namespace
}  // namespace texloom::ir::arith
