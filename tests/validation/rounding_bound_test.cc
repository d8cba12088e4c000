#include "validation/rounding_bound.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/interpret/value.h"
#include "lower/te_text.h"

namespace texloom::validation {
namespace {

constexpr int64_t kBoundSteps = 10'000;

lower::Lowering parsed_compute(const std::string& compute) {
  return lower::parse_lowering(
      "program main stage=te target=\"opencl\"\n"
      "  reducer sum(lhs, rhs): float32 = lhs + rhs, identity=0.0\n"
      "  param X\n  param Y\n\nplaceholder X: float32[4]\n\n" +
          compute + "\n  output\n",
      "p.tl");
}

Bytes floats(const std::vector<double>& values) {
  Bytes bytes(values.size() * 4);
  for (size_t i = 0; i < values.size(); ++i) {
    ir::encode(ir::kFloat32, ir::scalar_of(values[i]), bytes.data() + 4 * i);
  }
  return bytes;
}

// Returns the bound of the first element of Y.
std::optional<double> bound(const std::string& compute, const std::vector<double>& x) {
  const auto bounds =
      rounding_bound(parsed_compute(compute), {{floats(x), std::nullopt}}, kBoundSteps);
  if (!bounds) return std::nullopt;
  return bounds->at(1).at(0);
}

const std::string kSum = "compute Y(i < 1): float32 = reduce(sum, [k < 4], X[k])";

// Sums of small integers are exact in any order.
TEST(RoundingBound, IsZeroForSmallIntegers) { EXPECT_EQ(bound(kSum, {1, -2, 3, 4}), 0); }

// 2^24 + 1 is not a float32.
TEST(RoundingBound, IsNotZeroWhereASumMayRound) {
  EXPECT_GT(bound(kSum, {16777216, -16777216, 1, 0}).value(), 0);
}

// The bound grows with the sum of absolute values, even if terms cancel.
TEST(RoundingBound, GrowsWithMagnitudes) {
  const double small = bound(kSum, {0.1, -0.1, 0.1, -0.1}).value();
  EXPECT_GT(small, 0);
  EXPECT_NEAR(bound(kSum, {10.1, -10.1, 10.1, -10.1}).value() / small, 101, 1);
  EXPECT_LT(small, 1e-5);
}

// An fma rounds once.
TEST(RoundingBound, OfFma) {
  const std::string fma = "compute Y(i < 4): float32 = fma(X[i], X[1], X[2])";
  EXPECT_EQ(bound(fma, {1, 2, 3, 4}), 0);
  EXPECT_GT(bound(fma, {0.1, 0.2, 0.3, 0.4}).value(), 0);
}

// exp(x) is never exact, but equal operands give equal values.
TEST(RoundingBound, LastFunctionOfExactValuesIsExact) {
  EXPECT_EQ(bound("compute Y(i < 4): float32 = exp(X[i])", {1, 2, 3, 4}), 0);
}

// The effect of a rounded x on exp(x) is unknown.
TEST(RoundingBound, IsUnknownOfAFunctionOfInexactValues) {
  const std::string function = "compute Y(i < 4): float32 = exp(X[i] + X[0])";
  EXPECT_EQ(bound(function, {0.1, 0.2, 0.3, 0.4}), std::nullopt);
}

// The error of exp(x) in a further operation is unknown.
TEST(RoundingBound, IsUnknownAfterAFunction) {
  EXPECT_EQ(bound("compute Y(i < 4): float32 = exp(X[i]) + 0.5", {1, 2, 3, 4}), std::nullopt);
}

// A rounded value may change the decision of a condition.
TEST(RoundingBound, IsUnknownWhereInexactValuesDecide) {
  const std::string choice = "compute Y(i < 4): float32 = select(X[i] < X[3], 0.5, 1.5)";
  EXPECT_EQ(bound(choice, {0.1, 0.2, 0.3, 0.4}), std::nullopt);
}

}  // namespace
}  // namespace texloom::validation
