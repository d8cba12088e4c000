// Tests the search for points at which a read is outside.
#include "lower/schedule/outside_point.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/expr.h"

namespace texloom::lower {
namespace {

using ir::Expr;
using ir::make_int;

const Expr i = ir::make_var("i"), j = ir::make_var("j");

// i and j take the values 0 to the given ends.
std::string found(const Expr& index, int64_t extent, int64_t end_i, int64_t end_j,
                  const std::vector<PathCondition>& path = {}) {
  ir::arith::Ranges ranges;
  ranges.set(i, {0, end_i});
  ranges.set(j, {0, end_j});
  const auto point = find_outside_point(index, extent, path, ranges);
  return point ? fmt::format("{} at {}", point->index, point->axes) : "";
}

TEST(OutsidePoint, InsideEverywhere) {
  EXPECT_EQ(found(i * i, 226, 15, 0), "");
  EXPECT_EQ(found(i * i, 225, 15, 0), "225 at i = 15");
}

// Both ends of each axis are tried, whatever the order of the axes and the number of their values.
TEST(OutsidePoint, EndsOfLongAxes) {
  const Expr index = i * i - j * j;
  EXPECT_EQ(found(index, 90'000, 300, 10), "90000 at i = 300, j = 0");
  EXPECT_EQ(found(j * j - i * i, 90'000, 10, 300), "90000 at j = 300, i = 0");
  EXPECT_EQ(found(make_int(90'001) - j - i * i, 90'001, 300, 10), "90001 at j = 0, i = 0");
}

// With few values, all points are tried.
TEST(OutsidePoint, InnerPoints) {
  const Expr peak = i * (make_int(15) - i);
  EXPECT_EQ(found(peak, 57, 15, 0), "");
  EXPECT_EQ(found(peak, 56, 15, 0), "56 at i = 7");
}

TEST(OutsidePoint, ConditionsLeadToTheRead) {
  const Expr few = i * i < make_int(30);
  EXPECT_EQ(found(i * 2, 11, 15, 0, {{few, true}}), "");
  EXPECT_EQ(found(i * 2, 10, 15, 0, {{few, true}}), "10 at i = 5");
  EXPECT_EQ(found(i * 2, 31, 15, 0, {{few, false}}), "");
  EXPECT_EQ(found(i * 2, 30, 15, 0, {{few, false}}), "30 at i = 15");
  EXPECT_EQ(found(i, 4, 15, 0, {{few, true}, {i >= make_int(9), true}}), "");
}

TEST(OutsidePoint, UnknownValues) {
  EXPECT_EQ(found(i + ir::make_var("n"), 4, 15, 0), "");
  EXPECT_EQ(found(i, 4, 15, 0, {{ir::make_var("b", ir::kBool), true}}), "");
}

}  // namespace
}  // namespace texloom::lower
