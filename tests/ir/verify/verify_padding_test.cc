// Tests which code relies on the value of padding, and when code may rely on it.
#include "ir/verify/verify_padding.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/text/parse.h"
#include "support/diagnostic.h"

namespace texloom::ir {
namespace {

using ::testing::HasSubstr;

// Declares T and U, with seven channels in eight lanes and zero padding in U only; W, with eight
// channels; and the buffer Y.
constexpr std::string_view kDigits = "[(h, c) -> rows=(h), cols=(c/4), lanes=(c%4)";
std::string declared(std::string_view access, std::string_view name) {
  if (name == "Y") return fmt::format("  param Y: {} global float32[64]\n", access);
  return fmt::format("  param {}: {} texture2d<float32>[8, {}] 2 x 8 texels, texture{}{}]{}\n",
                     name, access, name == "W" ? 8 : 7, kDigits,
                     name == "U" ? ", padding=zero" : "", name == "O" ? ", origin=(ox, oy)" : "");
}

// The verifier's problem with a kernel that reads one tensor and writes another.
std::string problem_of(std::string_view from, std::string_view to, std::string_view body) {
  const bool origin = from == "O";
  const std::string text = fmt::format(
      "program p stage=kernels\n{}{}  launch k({}, {}{}) grid=(8, 1, 1) block=(1, 1, 1)\n"
      "kernel k grid=(8, 1, 1) block=(1, 1, 1)\n{}{}{}  axis bx = blockIdx.x < 8\n{}\n",
      declared("", from), declared("", to), from, to, origin ? ", ox, oy" : "",
      declared("read", from), declared("write", to),
      origin ? "  param ox: int32\n  param oy: int32\n" : "", body);
  try {
    parse_program(text, "p.tl");
  } catch (const UserError& error) {
    return error.diagnostics().front().message;
  }
  return {};
}

const std::string kUnknown = "is computed from padding, whose values are undefined";
const std::string kNotZero =
    "is padding, which readers assume to be zero, but is not written as zero";

TEST(VerifyPadding, NothingThatIsSeenIsComputedFromIt) {
  const auto given = [](std::string_view from, std::string_view value) {
    return problem_of(from, "Y", fmt::format("Y[bx] = {}", value));
  };
  EXPECT_THAT(given("T", "texture2d.load(T, x=1, y=bx: float32x4).lane[3]"),
              HasSubstr("Y[0] " + kUnknown));
  EXPECT_EQ(given("T", "texture2d.load(T, x=1, y=bx: float32x4).lane[2]"), "");
  EXPECT_EQ(given("T", "texture2d.load(T, x=0, y=bx: float32x4).lane[3]"), "");
  EXPECT_EQ(given("U", "texture2d.load(U, x=1, y=bx: float32x4).lane[3]"), "");
  EXPECT_EQ(given("W", "texture2d.load(W, x=1, y=bx: float32x4).lane[3]"), "");
  // Padding spreads through operations, but not if a condition discards it.
  const std::string last = "texture2d.load(T, x=1, y=bx: float32x4).lane[3]";
  EXPECT_THAT(given("T", "exp(1.0 + " + last + ")"), HasSubstr(kUnknown));
  EXPECT_THAT(given("T", "float32(float16(" + last + "))"), HasSubstr(kUnknown));
  EXPECT_EQ(given("T", "select(bx < 8, 1.0, " + last + ")"), "");
  EXPECT_THAT(given("T", "select(bx < 8, " + last + ", 1.0)"), HasSubstr(kUnknown));
}

TEST(VerifyPadding, WhereverTheRectangleBegins) {
  EXPECT_THAT(
      problem_of("O", "Y", "Y[bx] = texture2d.load(O, x=1 + ox, y=bx + oy: float32x4).lane[3]"),
      HasSubstr("Y[0] " + kUnknown));
  EXPECT_EQ(problem_of("O", "Y", "Y[bx] = texture2d.load(O, x=ox, y=bx + oy: float32x4).lane[3]"),
            "");
}

TEST(VerifyPadding, InTheFirstAndLastIterations) {
  const std::string use = "texture2d.load(T, x=i, y=bx: float32x4).lane[3]";
  EXPECT_THAT(problem_of("T", "Y", "for i < 2 { Y[bx * 2 + i] = " + use + " }"),
              HasSubstr("Y[15] " + kUnknown));
  EXPECT_EQ(problem_of("T", "Y", "for i < 2 { if i < 1 { Y[bx * 2 + i] = " + use + " } }"), "");
  EXPECT_EQ(problem_of("T", "Y", "for i < 1 { Y[bx * 2 + i] = " + use + " }"), "");
  EXPECT_EQ(problem_of("T", "Y", "for i < bx { Y[bx * 2 + i] = " + use + " }"), "");
  EXPECT_THAT(problem_of("T", "Y",
                         "for i < 2 { let v: float32x4 = texture2d.load(T, x=i, y=bx: float32x4) "
                         "Y[bx * 2 + i] = v.lane[0] + v.lane[3] }"),
              HasSubstr(kUnknown));
}

// The verifier claims nothing about lanes at variable indices and about int64 conditions.
TEST(VerifyPadding, WhereNothingIsClaimed) {
  const std::string texel = "let v: float32x4 = texture2d.load(T, x=1, y=bx: float32x4) ";
  const auto given = [&](std::string_view value) {
    return problem_of("T", "Y", texel + fmt::format("for i < 8 {{ Y[bx * 8 + i] = {} }}", value));
  };
  EXPECT_EQ(given("select(i < 3, v.lane[i], 0.0)"), "");
  EXPECT_THAT(given("v.lane[i / 8 + 3]"), HasSubstr("Y[0] " + kUnknown));
  EXPECT_THAT(given("select(int64(i) < int64(9), v.lane[3], 0.0)"), HasSubstr(kUnknown));
  EXPECT_EQ(problem_of("T", "Y",
                       texel + "for i: int64 < int64(2) { if v.lane[int32(i) + 3] < 1.0 { Y[bx] = "
                               "v.lane[3] } }"),
            "");
}

// Padding may be copied to padding, but not to an element.
TEST(VerifyPadding, WholeTexels) {
  const std::string texel = "texture2d.load(T, x=1, y=bx: float32x4)";
  EXPECT_EQ(problem_of("T", "V", "texture2d.store(V, x=1, y=bx, " + texel + ": float32x4)"), "");
  EXPECT_THAT(problem_of("T", "W", "texture2d.store(W, x=1, y=bx, " + texel + ": float32x4)"),
              HasSubstr("lane 3 of W at x=1, y=0 " + kUnknown));
  EXPECT_THAT(problem_of("T", "Y", "Y[ramp(bx * 4, 1, 4)] = " + texel), HasSubstr("Y[3] "));
}

TEST(VerifyPadding, WhatIsStatedToBeZeroIsWrittenSo) {
  const auto stored = [](std::string_view from, std::string_view value) {
    return problem_of(
        from, "U",
        fmt::format("for i < 2 {{ texture2d.store(U, x=i, y=bx, {}: float32x4) }}", value));
  };
  const std::string vector = "Y[ramp(i * 4, 1, 4)]";
  EXPECT_THAT(stored("Y", vector), HasSubstr("lane 3 of U at x=1, y=7 " + kNotZero));
  EXPECT_EQ(stored("Y", "select(ramp(i * 4, 1, 4) < x4(7), " + vector + ", x4(0.0))"), "");
  EXPECT_THAT(stored("Y", "select(ramp(i * 4, 1, 4) < x4(8), " + vector + ", x4(0.0))"),
              HasSubstr(kNotZero));
  EXPECT_EQ(stored("Y", "pack(Y[0], Y[1], Y[2], 0.0)"), "");
  EXPECT_EQ(stored("Y", "pack(Y[0], Y[1], Y[2], float32(int32(0)))"), "");
  const std::string lane = "pack(Y[0], Y[1], Y[2], pack(Y[0], 0.0, 1.0, 0.0).lane[{}])";
  EXPECT_EQ(stored("Y", fmt::format(fmt::runtime(lane), "1")), "");
  EXPECT_THAT(stored("Y", fmt::format(fmt::runtime(lane), "2")), HasSubstr(kNotZero));
  EXPECT_THAT(stored("Y", fmt::format(fmt::runtime(lane), "min(int32(Y[8]), 3)")),
              HasSubstr(kNotZero));
  // A copied texel has zero padding only if the source tensor has zero padding.
  const auto copied = [&](std::string_view from) {
    return stored(from, fmt::format("texture2d.load({}, x=i, y=bx: float32x4)", from));
  };
  EXPECT_THAT(copied("T"), HasSubstr(kNotZero));
  EXPECT_THAT(copied("W"), HasSubstr(kNotZero));
  EXPECT_EQ(problem_of("U", "T",
                       "for i < 2 { texture2d.store(T, x=i, y=bx, texture2d.load(U, x=i, y=bx: "
                       "float32x4): float32x4) }"),
            "");
}

}  // namespace
}  // namespace texloom::ir
