// Tests replacing loops with tensor intrinsics: values after every pass, and locations.
#include <gtest/gtest.h>

#include "tests/lower/interpreted.h"
#include "tests/lower/te_texts.h"

namespace texloom::lower {
namespace {

using namespace testing;

Lowering parsed(std::string text) { return parse_lowering(text, "tensorize.tl"); }

// The intrinsic's text with one part replaced.
std::string with(std::string_view part, std::string_view other) {
  std::string text(kIntrinsicText);
  const size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), other);
}

const Values kA = numbers(24), kB = numbers(32, 5, 19);

// Rows of A times rows of B.
Values products() {
  Values result;
  for (size_t i = 0; i < 6; ++i) {
    for (size_t j = 0; j < 8; ++j) {
      double sum = 0;
      for (size_t k = 0; k < 4; ++k) sum += kA[i * 4 + k] * kB[j * 4 + k];
      result.push_back(sum);
    }
  }
  return result;
}

TEST(Tensorize, StepsAreResetAndUpdated) {
  EXPECT_EQ(problems(parsed(std::string(kIntrinsicText)), {kA, kB}, products()), "");
}

TEST(Tensorize, WithoutAResetTheFirstStepIsTheBody) {
  const std::string reset = "  reset {\n    for i < 4 {\n      c[i] = 0.0\n    }\n  }\n";
  EXPECT_EQ(problems(parsed(with(reset, "")), {kA, kB}, products()), "");
}

// If the tensorized loop is the whole reduction, there is neither a reset nor a second step.
TEST(Tensorize, AWholeReductionIsTheBodyAlone) {
  std::string text = with("[k < 2], a[k] * b[i, k])", "[k < 4], a[k] * b[i, k])");
  for (const auto& [part, other] : std::vector<std::pair<std::string, std::string>>{
           {"float32[2] strides", "float32[4] strides"},
           {"float32[4, 2]", "float32[4, 4]"},
           {"a[0] * b[i, 0] + a[1] * b[i, 1]",
            "a[0] * b[i, 0] + a[1] * b[i, 1] + "
            "a[2] * b[i, 2] + a[3] * b[i, 3]"},
           {"split k factor=2", "split k factor=4"},
           {"i, k.outer, j,", "k.outer, i, j,"}}) {
    text.replace(text.find(part), part.size(), other);
  }
  text.erase(text.find("  split k"), text.find("  tensorize j gemv") - text.find("  split k"));
  EXPECT_EQ(problems(parsed(text), {kA, kB}, products()), "");
}

TEST(Tensorize, InputsMayLieInTextures) {
  std::string text = with("reads a: global float32[2] strides=(1)", "reads a: global float32[2]");
  const std::string param = "param A\n";
  text.replace(text.find(param), param.size(), "param A: float32[6, 4] in texture\n");
  EXPECT_EQ(problems(parsed(text), {kA, kB}, products()), "");
}

// The second scalar, R[i] + k.outer, changes from step to step.
TEST(Tensorize, ScalarsHaveTheValuesThatStandInTheirPlaces) {
  const Lowering lowering = parsed(R"(program scalars stage=te target="opencl"
  reducer sum(lhs, rhs): float32 = lhs + rhs, identity=0.0
  intrinsic dot
    scalar s: float32
    scalar t: float32
    reads a: global float32[2] multiple=2 in global
    writes c: global float32[1]
    computes (i < 1) = reduce(sum, [k < 2], (a[k] * s + s) * t)
  body {
    c[0] = ((a[0] + a[1]) * s + 2.0 * s) * t
  }
  update {
    c[0] = c[0] + ((a[0] + a[1]) * s + 2.0 * s) * t
  }
  param A
  param R
  param C

placeholder A: float32[6, 2, 2]
placeholder R: float32[6]

compute C(i < 6): float32 = reduce(sum, [ko < 2, ki < 2], (A[i, ko, ki] * (R[i] + float32(ko)) + (R[i] + float32(ko))) * R[5 - i])
  output
  bind i threadIdx.x
  tensorize ki dot
)");
  Values a = numbers(24), r = numbers(6, 5, 19), expected;
  for (size_t i = 0; i < 6; ++i) {
    double sum = 0;
    for (size_t n = 0; n < 4; ++n) {
      const double s = r[i] + static_cast<double>(n / 2);
      sum += (a[i * 4 + n] * s + s) * r[5 - i];
    }
    expected.push_back(sum);
  }
  EXPECT_EQ(problems(lowering, {a, r}, expected), "");
}

}  // namespace
}  // namespace texloom::lower
