// Tests which computations are found to move elements. A tag alone does not make a view.
#include "graph/analysis/movement.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "graph/analysis/pattern.h"
#include "graph/text/computation_text.h"

namespace texloom::graph {
namespace {

SharedComputation computation_of(const std::string& text) {
  return parse_computation(text, "movement.tl");
}

bool is_view_of(const std::string& shape, const std::string& compute) {
  return is_view(*computation_of("computation 0 (in0) -> (out)\nplaceholder in0: float32" + shape +
                                 "\ncompute out" + compute + "\n  tag view\n"));
}

TEST(Views, HaveTheElementsInRowMajorOrder) {
  EXPECT_TRUE(
      is_view_of("[2, 3, 4]", "(i < 6, j < 4): float32 = in0[floordiv(i, 3), floormod(i, 3), j]"));
  EXPECT_TRUE(is_view_of("[6, 4]", "(i < 24): float32 = in0[floordiv(i, 4), floormod(i, 4)]"));
  EXPECT_FALSE(is_view_of("[4, 6]", "(i < 6, j < 4): float32 = in0[j, i]"));
  EXPECT_FALSE(is_view_of("[6, 4]", "(i < 6, j < 4): float32 = in0[5 - i, j]"));
  EXPECT_FALSE(is_view_of("[6, 4]", "(i < 6, j < 4): float32 = in0[i, j] + 1.0"));
}

// A computation that drops elements is a slice, not a view.
std::optional<std::vector<std::size_t>> permuted(const std::string& shape,
                                                 const std::string& compute) {
  return permuted_axes(*computation_of("computation 0 (in0) -> (out)\nplaceholder in0: float32" +
                                       shape + "\ncompute out" + compute + "\n"));
}

TEST(Permutations, HaveEachAxisOnce) {
  using Axes = std::vector<std::size_t>;
  EXPECT_EQ(permuted("[2, 3, 4]", "(i < 4, j < 2, k < 3): float32 = in0[j, k, i]"),
            (Axes{2, 0, 1}));
  EXPECT_EQ(permuted("[2, 3]", "(i < 2, j < 3): float32 = in0[i, j]"), (Axes{0, 1}));
  // A slice, a diagonal, a view and a sum are none.
  EXPECT_EQ(permuted("[2, 4]", "(i < 3, j < 2): float32 = in0[j, i]"), std::nullopt);
  EXPECT_EQ(permuted("[2, 2]", "(i < 2): float32 = in0[i, i]"), std::nullopt);
  EXPECT_EQ(permuted("[6]", "(i < 2, j < 3): float32 = in0[i * 3 + j]"), std::nullopt);
  EXPECT_EQ(permuted("[2, 3]", "(i < 3, j < 2): float32 = in0[j, i] + 1.0"), std::nullopt);
}

TEST(Permutations, MoveChannelsOfImages) {
  EXPECT_TRUE(moves_channels_last({0, 2, 3, 1}));
  EXPECT_TRUE(moves_channels_last({0, 2, 1}));
  EXPECT_FALSE(moves_channels_last({0, 3, 1, 2}));
  EXPECT_FALSE(moves_channels_last({0, 1}));
  EXPECT_EQ(inverse({0, 2, 3, 1}), (std::vector<std::size_t>{0, 3, 1, 2}));
}

TEST(Views, HaveAllElements) { EXPECT_FALSE(is_view_of("[8]", "(i < 4): float32 = in0[i]")); }

// Extents of a view may be symbols, whose values each run gives.
TEST(Views, MayHaveSymbols) {
  const auto view = [](const std::string& compute) {
    return is_view(
        *computation_of("computation 0 (in0) -> (out)\n  symbol n: int32\n"
                        "placeholder in0: float32[n, 4]\ncompute out" +
                        compute + "\n  tag view\n"));
  };
  EXPECT_TRUE(view("(i < n * 4): float32 = in0[floordiv(i, 4), floormod(i, 4)]"));
  EXPECT_TRUE(
      is_view(*computation_of("computation 0 (in0) -> (out)\n  symbol n: int32\n  symbol m: int32\n"
                              "placeholder in0: float32[n, m]\ncompute out(i < n * m): float32 = "
                              "in0[floordiv(i, m), floormod(i, m)]\n  tag view\n")));
  EXPECT_FALSE(view("(i < n * 4): float32 = in0[floormod(i, n), floordiv(i, n)]"));
  EXPECT_FALSE(view("(i < n * 2): float32 = in0[floordiv(i, 4), floormod(i, 4)]"));
}

std::optional<std::size_t> axis_of(const std::string& compute) {
  return joined_axis(
      *computation_of("computation 0 (in0, in1) -> (out)\nplaceholder in0: float32[2, 3]\n"
                      "placeholder in1: float32[2, 5]\ncompute out(i < 2, j < 8): float32 = " +
                      compute + "\n  tag joined\n"));
}

TEST(JoinedAxis, HasTheInputsOneAfterAnother) {
  EXPECT_EQ(axis_of("select(j < 3, in0[i, j], in1[i, j - 3])"), 1);
  EXPECT_EQ(axis_of("select(j < 5, in1[i, j], in0[i, j - 5])"), std::nullopt);
  EXPECT_EQ(axis_of("select(j < 3, in0[i, j], in1[i, 7 - j])"), std::nullopt);
  EXPECT_EQ(axis_of("select(i < 3, in0[i, 0], in1[i, 0])"), std::nullopt);
}

// In a gather, the second input is read to compute an index.
TEST(Pattern, InputsOfWhichIndicesAreComputed) {
  const SharedComputation gather = computation_of(
      "computation 0 (in0, in1) -> (out)\nplaceholder in0: float32[4]\n"
      "placeholder in1: float32[4]\ncompute out(i < 4): float32 = in0[int32(in1[i])]\n");
  EXPECT_EQ(inputs_in_indices(*gather), std::vector<std::size_t>{1});
  EXPECT_EQ(pattern_of(*gather), Pattern::Injective);
}

bool moves_only(const std::string& shape, const std::string& compute) {
  return only_moves(*computation_of("computation 0 (in0) -> (out)\nplaceholder in0: float32" +
                                    shape + "\ncompute out" + compute + "\n"));
}

TEST(Moves, AreDecidedByIndicesAlone) {
  EXPECT_TRUE(moves_only("[8]", "(i < 3): float32 = in0[i]"));
  EXPECT_TRUE(moves_only("[1, 8]", "(i < 3, j < 8): float32 = in0[0, j]"));
  EXPECT_TRUE(moves_only("[8]", "(i < 9): float32 = select(i < 8, in0[i], 0.0)"));
  EXPECT_FALSE(moves_only("[8]", "(i < 8): float32 = select(in0[i] < 0.0, 0.0, in0[i])"));
  EXPECT_FALSE(moves_only("[8]", "(i < 8): float32 = 0.0 - in0[i]"));
}

std::optional<std::size_t> rows_of(const std::string& shape, const std::string& computes) {
  return input_of_rows(*computation_of(
      "computation 0 (in0) -> (out)\n  reducer sum(a, b): float32 = a + b, identity=0.0\n"
      "placeholder in0: float32" +
      shape + "\n" + computes + "\n"));
}

TEST(Rows, AreReducedAlongTheLastAxis) {
  EXPECT_TRUE(rows_of("[4, 8]",
                      "compute total(i < 4, j < 1): float32 = reduce(sum, [k < 8], in0[i, k])\n"
                      "compute out(i < 4, j < 1): float32 = total[i, j] * 0.125"));
  EXPECT_FALSE(
      rows_of("[4, 8]", "compute out(i < 1, j < 8): float32 = reduce(sum, [k < 4], in0[k, j])"));
  EXPECT_FALSE(
      rows_of("[4, 8]", "compute out(i < 4, j < 1): float32 = reduce(sum, [k < 7], in0[i, k])"));
  EXPECT_FALSE(rows_of("[4, 8]",
                       "compute out(i < 4, j < 1): float32 = reduce(sum, [k < 8], in0[3 - i, k])"));
}

// Rows of a transposed tensor are no rows of the tensor, and normalized rows are no sums.
TEST(Rows, AreThoseOfTheInput) {
  EXPECT_FALSE(rows_of("[8, 8]",
                       "compute turned(i < 8, j < 8): float32 = in0[j, i]\n"
                       "compute out(i < 8, j < 1): float32 = reduce(sum, [k < 8], turned[i, k])"));
  EXPECT_FALSE(rows_of("[4, 8]",
                       "compute total(i < 4, j < 1): float32 = reduce(sum, [k < 8], in0[i, k])\n"
                       "compute out(i < 4, j < 8): float32 = in0[i, j] * total[i, 0]"));
  EXPECT_EQ(rows_of("[4, 8]",
                    "compute square(i < 4, j < 8): float32 = in0[i, j] * in0[i, j]\n"
                    "compute out(i < 4, j < 1): float32 = reduce(sum, [k < 8], square[i, k])"),
            0);
}

}  // namespace
}  // namespace texloom::graph
