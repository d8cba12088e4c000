#include "ir/arith/linear.h"

#include <gtest/gtest.h>

#include <limits>

#include "ir/arith/ranges.h"
#include "ir/equal.h"
#include "ir/program.h"

namespace texloom::ir::arith {
namespace {

class LinearTest : public testing::Test {
 protected:
  static std::string text(const LinearSum& sum) { return to_string(sum.to_expr(kInt32)); }
  LinearSum sum(int64_t of_x, int64_t of_y, int64_t constant) {
    LinearSum result = LinearSum::constant_sum(constant);
    if (of_x != 0) result = result.plus(LinearSum{{{x, of_x}}, 0}, 1);
    if (of_y != 0) result = result.plus(LinearSum{{{y, of_y}}, 0}, 1);
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
  // Equal atoms count as one atom, even if they are different nodes.
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

TEST_F(LinearTest, Parts) {
  using Kind = SumPart::Kind;
  const auto part = [&](const LinearSum& whole, Kind kind, int64_t parameter) {
    const SumPart result(whole, kind, parameter);
    EXPECT_EQ(result.constant(), result.copy().constant);
    EXPECT_EQ(result.is_constant(), result.copy().is_constant());
    EXPECT_EQ(result.is_zero(), text(result.copy()) == "0");
    return text(result.copy());
  };
  EXPECT_EQ(part(sum(8, 3, 10), Kind::Whole, 1), "x * 8 + y * 3 + 10");
  EXPECT_EQ(part(sum(8, 3, 10), Kind::Multiples, 4), "x * 2 + 2");
  EXPECT_EQ(part(sum(8, 3, 10), Kind::Rest, 4), "y * 3 + 2");
  EXPECT_EQ(part(sum(-8, 0, -10), Kind::Multiples, 4), "x * -2 - 3");
  EXPECT_EQ(part(sum(-8, 0, -10), Kind::Rest, 4), "2");
  EXPECT_EQ(part(sum(0, 3, 2), Kind::Multiples, 4), "0");
  EXPECT_EQ(part(sum(-8, -6, 10), Kind::Terms, -2), "x * 4 + y * 3");
  EXPECT_EQ(part(sum(8, 3, 10), Kind::Except, 0), "y * 3 + 10");
  EXPECT_EQ(part(sum(8, 3, 10), Kind::Except, 1), "x * 8 + 10");
}

TEST_F(LinearTest, PartsAreBounded) {
  Ranges ranges;
  ranges.set(x, {0, 7});
  ranges.set(y, {-1, 2});
  const LinearSum whole = sum(8, 3, 10);
  EXPECT_EQ(SumPart(whole, SumPart::Kind::Rest, 4).bounds(ranges), (Interval{-1, 8}));
  EXPECT_EQ(SumPart(whole, SumPart::Kind::Multiples, 4).bounds(ranges), (Interval{2, 16}));
  EXPECT_EQ(SumPart(whole, SumPart::Kind::Multiples, 4).modular(ranges), Modular::of(2, 0));
}

TEST_F(LinearTest, CommonFactors) {
  EXPECT_EQ(sum(8, 12, 3).common_factor(), 4);
  EXPECT_EQ(sum(8, -12, 3).common_factor(), 4);
  EXPECT_EQ(sum(-8, -12, 3).common_factor(), -4);
  EXPECT_EQ(sum(0, 0, 3).common_factor(), 0);
  EXPECT_EQ(sum(8, -12, 3).coefficient_of(y), -12);
  EXPECT_EQ(sum(8, 0, 3).coefficient_of(y), 0);
}

TEST_F(LinearTest, Equality) {
  EXPECT_TRUE(equal(sum(2, 3, 4), LinearSum{{{y, 3}, {x, 2}}, 4}));
  EXPECT_FALSE(equal(sum(2, 3, 4), sum(2, 3, 5)));
  EXPECT_FALSE(equal(sum(2, 3, 4), sum(2, 4, 4)));
  EXPECT_FALSE(equal(sum(2, 3, 4), sum(2, 0, 4)));
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
  const Expr called = Expr(new Call(kInt32, Intrinsic::Abs, {x}));
  for (const Expr& e : {make_load(a, {x}), texel, read, converted, called}) {
    EXPECT_TRUE(reads_memory(LinearSum::atom(e))) << to_string(e);
    EXPECT_TRUE(reads_memory(LinearSum::atom(min(y, e + 1)).plus(sum(1, 0, 0), 1)));
    EXPECT_TRUE(reads_memory(sum(1, 0, 0).plus(LinearSum::atom(e), 1)));
  }
  EXPECT_FALSE(reads_memory(make_cast(kInt64, x + 1)));
  EXPECT_TRUE(reads_memory(make_cast(kInt64, make_load(a, {x}))));
  EXPECT_TRUE(reads_memory(make_cast(kInt32, make_var("l", kInt64))));
  EXPECT_FALSE(reads_memory(sum(1, 2, 3)));
  EXPECT_FALSE(reads_memory(LinearSum::atom(min(x, y))));
}

}  // namespace
}  // namespace texloom::ir::arith
