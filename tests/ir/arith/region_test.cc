#include "ir/arith/region.h"

#include <gtest/gtest.h>

#include "ir/program.h"

namespace texloom::ir::arith {
namespace {

// `r` runs from 0 to 7 and `s` from o to o + 3; x, y and o are fixed.
class RegionTest : public testing::Test {
 protected:
  RegionTest() {
    ranges.set(o, {0, 99});
    running[r] = {make_int(0), make_int(7)};
    running[s] = {o, o + 3};
  }
  std::string of(const Expr& e) {
    const auto region = region_of(e, running, ranges);
    return region ? to_string(region->min) + " .. " + to_string(region->max) : "unknown";
  }

  Expr r = make_var("r"), s = make_var("s"), o = make_var("o"), x = make_var("x");
  Ranges ranges;
  RegionMap running;
};

TEST_F(RegionTest, Leaves) {
  EXPECT_EQ(of(make_int(4)), "4 .. 4");
  EXPECT_EQ(of(x), "x .. x");
  EXPECT_EQ(of(r), "0 .. 7");
  EXPECT_EQ(of(s), "o .. o + 3");
}

TEST_F(RegionTest, Sums) {
  EXPECT_EQ(of(r + s), "o .. o + 10");
  EXPECT_EQ(of(x + r), "x .. x + 7");
  EXPECT_EQ(of(x - r), "x - 7 .. x");
  EXPECT_EQ(of(r - s), "o * -1 - 3 .. o * -1 + 7");
}

TEST_F(RegionTest, Products) {
  EXPECT_EQ(of(s * 3), "o * 3 .. o * 3 + 9");
  EXPECT_EQ(of(make_int(3) * s), "o * 3 .. o * 3 + 9");
  EXPECT_EQ(of(r * -2), "-14 .. 0");
  EXPECT_EQ(of(x * o), "x * o .. x * o");
  EXPECT_EQ(of(r * s), "0 .. 714");
  EXPECT_EQ(of(r * x), "unknown");
  EXPECT_EQ(of(s * s), "0 .. 10404");
}

TEST_F(RegionTest, Divisions) {
  EXPECT_EQ(of(floordiv(s, 4)), "floordiv(o, 4) .. floordiv(o + 3, 4)");
  EXPECT_EQ(of(floordiv(r, 3)), "0 .. 2");
  EXPECT_EQ(of(floordiv(x, 3)), "floordiv(x, 3) .. floordiv(x, 3)");
  EXPECT_EQ(of(floormod(x, 3)), "floormod(x, 3) .. floormod(x, 3)");
  EXPECT_EQ(of(floormod(r, 3)), "0 .. 2");
  EXPECT_EQ(of(floormod(r, 8)), "0 .. 7");
  EXPECT_EQ(of(floormod(x * 8 + r, 16)), "floormod(x, 2) * 8 .. floormod(x, 2) * 8 + 7");
  EXPECT_EQ(of(floormod(x + r, 8)), "0 .. 7");
  EXPECT_EQ(of(floormod(x * 16 + r, 8)), "0 .. 7");
  // Between two multiples of the divisor, the remainder grows with its operand.
  running[r] = {make_int(9), make_int(11)};
  EXPECT_EQ(of(floormod(r + x * 4, 4)), "1 .. 3");
  EXPECT_EQ(of(floormod(r + x, 4)), "0 .. 3");
  EXPECT_EQ(of(floormod(r, 8)), "1 .. 3");
  EXPECT_EQ(of(floordiv(r, x)), "unknown");
  EXPECT_EQ(of(floordiv(r, -2)), "unknown");
  EXPECT_EQ(of(floormod(r, 0)), "unknown");
}

TEST_F(RegionTest, Choices) {
  EXPECT_EQ(of(min(r, make_int(5))), "0 .. 5");
  EXPECT_EQ(of(max(r, make_int(5))), "5 .. 7");
  EXPECT_EQ(of(min(x, r)), "min(x, 0) .. min(x, 7)");
  EXPECT_EQ(of(max(x, r)), "max(x, 0) .. max(x, 7)");
  EXPECT_EQ(of(make_select(x < o, r + 4, s)), "min(4, o) .. max(11, o + 3)");
}

TEST_F(RegionTest, OtherOperationsByTheirInterval) {
  EXPECT_EQ(of(make_binary(BinaryOp::Div, r, make_int(2))), "0 .. 3");
  EXPECT_EQ(of(make_binary(BinaryOp::Shl, r, make_int(2))), "unknown");
  EXPECT_EQ(of(make_binary(BinaryOp::Mod, r + x, make_int(2))), "-1 .. 1");
  const Buffer a = make_buffer("A", kInt32, {8}, MemoryScope::Global);
  EXPECT_EQ(of(make_load(a, {x})), "unknown");
  EXPECT_EQ(of(make_load(a, {x}) + 1), "unknown");
}

TEST_F(RegionTest, Joins) {
  const Region joined = join({x, x + 3}, {x - 1, x + 1}, ranges);
  EXPECT_EQ(to_string(joined.min) + " .. " + to_string(joined.max), "x - 1 .. x + 3");
}

}  // namespace
}  // namespace texloom::ir::arith
