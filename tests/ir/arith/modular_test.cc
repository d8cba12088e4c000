#include "ir/arith/modular.h"

#include <gtest/gtest.h>

#include <limits>

#include "ir/arith/simplify.h"
#include "ir/program.h"

namespace texloom::ir::arith {

// Printed when a comparison fails.
inline void PrintTo(const Modular& m, std::ostream* out) {  // NOLINT: GoogleTest's name
  *out << m.residue << " mod " << m.modulus;
}

namespace {

TEST(Modular, Values) {
  EXPECT_EQ(Modular::of(4, 10), (Modular{4, 2}));
  EXPECT_EQ(Modular::of(4, -1), (Modular{4, 3}));
  EXPECT_EQ(Modular::of(0, -7), Modular::point(-7));
  EXPECT_EQ(Modular::of(-4, 1), Modular::everything());
  EXPECT_TRUE(Modular::of(12, 8).is_multiple_of(4));
  EXPECT_FALSE(Modular::of(12, 8).is_multiple_of(3));
  EXPECT_FALSE(Modular::of(12, 8).is_multiple_of(8));
  EXPECT_TRUE(Modular::point(16).is_multiple_of(8));
}

TEST(Modular, Arithmetic) {
  const Modular a = Modular::of(12, 8), b = Modular::of(8, 4);
  EXPECT_EQ(a + b, Modular::of(4, 0));
  EXPECT_EQ(a + Modular::point(5), Modular::of(12, 1));
  EXPECT_EQ(a * Modular::point(3), Modular::of(36, 24));
  EXPECT_EQ(a * Modular::point(-1), Modular::of(12, 4));
  EXPECT_EQ(a * b, Modular::of(16, 0));  // (12k + 8) * (8l + 4): a multiple of 4 * 4
  EXPECT_EQ(join(a, b), Modular::of(4, 0));
  EXPECT_EQ(join(Modular::point(3), Modular::point(13)), Modular::of(10, 3));
  EXPECT_EQ(join(Modular::point(3), Modular::point(3)), Modular::point(3));
}

// Numbers too large to represent give no information, and nothing overflows.
TEST(Modular, LargeNumbers) {
  constexpr int64_t kLarge = std::numeric_limits<int64_t>::max() / 5;
  const Modular large = Modular::point(kLarge);
  EXPECT_EQ(large * large, Modular::everything());
  EXPECT_EQ(Modular::of(kLarge, 1) * Modular::point(kLarge), Modular::everything());
  EXPECT_EQ(join(large, Modular::point(-kLarge)), Modular::everything());
}

class ModularTest : public testing::Test {
 protected:
  Modular of(const Expr& e) { return modular(e, ranges_); }
  static Expr binary(BinaryOp op, const Expr& a, int64_t b) {
    return make_binary(op, a, make_int(b));
  }
  Ranges ranges_;
  Expr x = make_var("x"), y = make_var("y");
};

TEST_F(ModularTest, Expressions) {
  EXPECT_EQ(of(x), Modular::everything());
  EXPECT_EQ(of(x * 4 + 1), Modular::of(4, 1));
  EXPECT_EQ(of(make_int(1) - x * 4), Modular::of(4, 1));
  EXPECT_EQ(of(x * 4 + y * 6), Modular::of(2, 0));
  EXPECT_EQ(of(min(x * 4, y * 8 + 4)), Modular::of(4, 0));
  EXPECT_EQ(of(max(x * 4, y * 8 + 2)), Modular::of(2, 0));
  EXPECT_EQ(of(make_select(x < y, x * 4 + 1, make_int(9))), Modular::of(4, 1));
  EXPECT_EQ(of(floordiv(x * 12 + 7, 3)), Modular::of(4, 2));
  EXPECT_EQ(of(floordiv(x * 12 - 7, 3)), Modular::of(4, 1));
  EXPECT_EQ(of(floordiv(x * 10, 4)), Modular::everything());
  EXPECT_EQ(of(floormod(x * 12 + 7, 3)), Modular::point(1));
  EXPECT_EQ(of(floormod(x * 12 + 7, 8)), Modular::of(4, 3));
  ranges_.set_modular(x, Modular::of(6, 5));
  EXPECT_EQ(of(x + 1), Modular::of(6, 0));
  ranges_.forget(x);
  EXPECT_EQ(of(x + 1), Modular::everything());
}

// A truncated quotient is known modulo a number only if it is exact; a remainder always is.
TEST_F(ModularTest, TruncatingDivision) {
  using Op = BinaryOp;
  EXPECT_EQ(of(binary(Op::Div, x * 12 + 6, 3)), Modular::of(4, 2));
  EXPECT_EQ(of(binary(Op::Div, x * 12 + 7, 3)), Modular::everything());
  EXPECT_EQ(of(binary(Op::Mod, x * 12 + 6, 3)), Modular::point(0));
  EXPECT_EQ(of(binary(Op::Mod, x * 12 + 7, 3)), Modular::of(3, 1));  // 1 or -2
  EXPECT_EQ(of(binary(Op::Div, x * 12, -3)), Modular::everything());
}

TEST_F(ModularTest, OtherTypesSayNothing) {
  const Expr byte = make_var("b", Type::u(8));
  EXPECT_EQ(of(byte * 4), Modular::everything());
  EXPECT_EQ(of(make_ramp(x * 4, make_int(4), 4)), Modular::everything());
  EXPECT_EQ(of(make_cast(kInt32, byte)), Modular::everything());
  EXPECT_EQ(of(make_cast(kInt64, x * 4 + 1)), Modular::of(4, 1));
  EXPECT_EQ(of(make_cast(kInt32, make_var("l", kInt64) * 4)), Modular::everything());
  EXPECT_EQ(of(make_var("l", kInt64) * 4), Modular::of(4, 0));
}

}  // namespace
}  // namespace texloom::ir::arith
