#include "validation/rounding_bound.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

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

Bytes encoded(ir::Type type, const std::vector<double>& values) {
  const auto size = static_cast<size_t>(type.bytes());
  Bytes bytes(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i) {
    ir::encode(type, ir::scalar_of(values[i]), bytes.data() + size * i);
  }
  return bytes;
}
Bytes floats(const std::vector<double>& values) { return encoded(ir::kFloat32, values); }

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

constexpr ir::Type kHalf = ir::Type::f(16);

// Halves whose products need all bits of a float32, so that sums of these round.
std::vector<double> halves(int64_t count, int64_t seed) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    const double value = 1 + static_cast<double>((i * 37 + seed) % 1024) / 1024;
    values.push_back(i % 3 == 0 ? -value : value);
  }
  return values;
}

// Of the first `count` products: how far their sum in float32 is from that in the opposite order,
// and the sum of their absolute values.
std::pair<double, double> distance_of_orders(const std::vector<double>& a,
                                             const std::vector<double>& b, size_t count) {
  float forth = 0, back = 0;
  double magnitude = 0;
  for (size_t i = 0; i < count; ++i) {
    const size_t last = count - 1 - i;
    forth += static_cast<float>(a[i] * b[i]);
    back += static_cast<float>(a[last] * b[last]);
    magnitude += std::abs(a[i] * b[i]);
  }
  return {std::abs(forth - back), magnitude};
}

// The types of the operations count, not those of the inputs.
TEST(RoundingBound, OfSumsInFloat32OfHalves) {
  const std::vector<double> a = halves(512, 1), b = halves(512, 5);
  const auto bounds = rounding_bound(
      lower::parse_lowering(
          "program main stage=te target=\"opencl\"\n"
          "  reducer sum(lhs, rhs): float32 = lhs + rhs, identity=0.0\n"
          "  param A\n  param B\n  param Y\n\n"
          "placeholder A: float16[512]\nplaceholder B: float16[512]\n\n"
          "compute Y(i < 1): float32 = reduce(sum, [k < 512], float32(A[k]) * float32(B[k]))\n"
          "  output\n",
          "p.tl"),
      {{encoded(kHalf, a), encoded(kHalf, b), std::nullopt}}, 100'000);
  ASSERT_TRUE(bounds.has_value());
  const auto [distance, magnitude] = distance_of_orders(a, b, 512);
  EXPECT_GT(distance, 0);
  EXPECT_LT(distance, bounds->at(2).at(0));
  EXPECT_LT(bounds->at(2).at(0), 1e-3 * magnitude);
}

// A stage that moves values, as a copy of a factor does, adds nothing to the bound.
TEST(RoundingBound, OfMovedValues) {
  EXPECT_EQ(bound("compute Y(i < 4): float32 = select(i < 2, X[i + 1], 0.0)", {0.1, 0.2, 0.3, 0.4}),
            0);
}

// The bounds of the product of the rows of C and of B by steps of fragments; C[i, j] is `copied`.
std::optional<std::vector<std::vector<double>>> bounds_of_steps(const std::vector<double>& a,
                                                                const std::vector<double>& b,
                                                                const std::string& copied) {
  const auto depth = static_cast<int64_t>(a.size()) / 16;
  const std::string text = fmt::format(
      "program main stage=te target=\"opencl -matrix_unit=loops\"\n"
      "  param A\n  param B\n  param Y\n\n"
      "placeholder A: float16[16, {0}]\nplaceholder B: float16[16, {0}]\n\n"
      "extern Y\n  reads A: global float16[16, {0}] = A\n"
      "  reads B: global float16[16, {0}] = B\n  writes Y: global float32[16, 16]\n{{\n"
      "  buffer.alloca C: shared float16[16, {0}]\n"
      "  for i < 16 {{\n    for j < {0} {{\n      C[i, j] = {1}\n    }}\n  }}\n"
      "  buffer.alloca S: fragment float32[16, 16]\n"
      "  buffer.alloca L: fragment float16[16, 16]\n"
      "  buffer.alloca R: fragment float16[16, 16]\n"
      "  fragment.fill(access_ptr(write, S[0, 0], extents=(16, 16)), 0.0)\n"
      "  for k < {2} {{\n"
      "    fragment.load(access_ptr(write, L[0, 0], extents=(16, 16)), "
      "access_ptr(read, C[0, k * 16], extents=(16, 16)), {0})\n"
      "    fragment.load(access_ptr(write, R[0, 0], extents=(16, 16)), "
      "access_ptr(read, B[0, k * 16], extents=(16, 16)), {0})\n"
      "    fragment.mma(access_ptr(read_write, S[0, 0], extents=(16, 16)), "
      "access_ptr(read, L[0, 0], extents=(16, 16)), "
      "transposed access_ptr(read, R[0, 0], extents=(16, 16)))\n  }}\n"
      "  fragment.store(access_ptr(write, Y[0, 0], extents=(16, 16)), "
      "access_ptr(read, S[0, 0], extents=(16, 16)), 16)\n}}\n  output\n",
      depth, copied, depth / 16);
  return rounding_bound(lower::parse_lowering(text, "p.tl"),
                        {{encoded(kHalf, a), encoded(kHalf, b), std::nullopt}}, 2'000'000);
}

// A step adds 16 products to each element, in the type of the sums.
TEST(RoundingBound, OfStepsOfFragments) {
  const std::vector<double> a = halves(16 * 64, 1), b = halves(16 * 64, 5);
  const auto bounds = bounds_of_steps(a, b, "A[i, j]");
  ASSERT_TRUE(bounds.has_value());
  const auto [distance, magnitude] = distance_of_orders(a, b, 64);
  EXPECT_GT(distance, 0);
  EXPECT_LT(distance, bounds->at(2).at(0));
  EXPECT_GT(bounds->at(2).at(0), 64 * std::ldexp(magnitude, -24));
  EXPECT_LT(bounds->at(2).at(0), 0.1 * magnitude);
}

// Products of halves are exact in float32 if they are small integers.
TEST(RoundingBound, IsZeroForStepsOfSmallIntegers) {
  const std::vector<double> a(16 * 16, 3), b(16 * 16, -7);
  EXPECT_EQ(bounds_of_steps(a, b, "A[i, j]").value().at(2).at(0), 0);
}

// A step reads what exp(x) was stored to, so it is not the last operation.
TEST(RoundingBound, IsUnknownOfAFunctionThatAStepReads) {
  const std::vector<double> a(16 * 16, 3), b(16 * 16, -7);
  EXPECT_EQ(bounds_of_steps(a, b, "exp(A[i, j])"), std::nullopt);
}

}  // namespace
}  // namespace texloom::validation
