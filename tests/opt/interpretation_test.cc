// Tests the inputs that --interpret gives a program, and the report of the results.
#include "apps/texloom-opt/interpretation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/text/parse.h"
#include "support/diagnostic.h"

namespace texloom::opt {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Interpretation interpreted(std::string_view text, InterpretationOptions options = {}) {
  if (options.max_steps == 0) options.max_steps = 1000;
  return interpret_random(ir::parse_program(text, "p.tl", {.check_accesses = false}), options);
}

// A parameter that is written is an output, and starts undefined.
TEST(Interpretation, InputsAndOutputs) {
  const Interpretation r = interpreted(
      "program p stage=loops param A: global float32[2] param B: global float32[3]\n"
      "B[0] = A[0] - A[0]\nB[1] = B[2]");
  EXPECT_THAT(r.values, StartsWith("B: float32[3] = 0 undefined undefined  hash "));
  ASSERT_EQ(r.reports.size(), 1U);
  EXPECT_THAT(to_string(r.reports[0]), StartsWith("p.tl:3: undefined: B[1] is given"));
}

// Every type represents the inputs exactly, so a conversion there and back changes nothing.
TEST(Interpretation, InputsAreExact) {
  for (const char* type : {"float16", "bfloat16", "float64", "int8", "int64", "uint8", "uint64"}) {
    const std::string to =
        std::string(type).find("float") != std::string::npos ? "float32" : "int32";
    const Interpretation r = interpreted(
        fmt::format("program p stage=loops param A: global {0}[50] param B: global {1}[50]\n"
                    "for i < 50 {{ B[i] = {1}({0}({1}(A[i]))) - {1}(A[i]) }}",
                    type, to));
    EXPECT_THAT(r.reports, testing::IsEmpty()) << type;
    EXPECT_THAT(r.values, StartsWith("B: " + to + "[50] = 0 0 0 0 0 0 0 0 ...  hash ")) << type;
  }
}

TEST(Interpretation, SeedsGiveOtherInputs) {
  const char* text =
      "program p stage=loops param A: global float32[8] param B: global float32[8]\n"
      "for i < 8 { B[i] = A[i] }";
  EXPECT_EQ(interpreted(text, {.seed = 3}).values, interpreted(text, {.seed = 3}).values);
  EXPECT_NE(interpreted(text, {.seed = 3}).values, interpreted(text, {.seed = 4}).values);
}

// The hash covers all elements, not only those shown.
TEST(Interpretation, HashesAllElements) {
  const auto with_last = [](const char* last) {
    return interpreted(fmt::format("program p stage=loops param B: global float32[20]\n"
                                   "for i < 19 {{ B[i] = 0.0 }} B[19] = {}",
                                   last))
        .values;
  };
  EXPECT_NE(with_last("1.0"), with_last("2.0"));
}

constexpr std::string_view kOrigins = R"(program p stage=kernels
  param T: texture2d<float32>[1, 4] 1 x 1 texels, texture[(a, b) -> rows=(a), cols=(b/4), lanes=(b%4)], origin=(tx, ty)
  param U: texture2d<float32>[1, 4] 1 x 1 texels, texture[(a, b) -> rows=(a), cols=(b/4), lanes=(b%4)], origin=(ux, uy)
  param P: global int32[4]
  launch k(P, tx, ty, ux, uy) grid=(1, 1, 1) block=(1, 1, 1)

kernel k grid=(1, 1, 1) block=(1, 1, 1)
  param P: write global int32[4]
  param tx: int32
  param ty: int32
  param ux: int32
  param uy: int32
  P[0] = tx
  P[1] = ty
  P[2] = ux
  P[3] = uy
)";

// A program that ignores an origin is reported, also if tensors share one image.
TEST(Interpretation, PlacesOfTextures) {
  EXPECT_THAT(interpreted(kOrigins).values, HasSubstr("P: int32[4] = 1 2 1 2  hash"));
  EXPECT_THAT(interpreted(kOrigins, {.one_image = true}).values,
              HasSubstr("P: int32[4] = 1 0 1 1  hash"));
}

// Temporaries and threads count toward the memory limit.
TEST(Interpretation, IsBounded) {
  const auto limit_of = [](std::string_view text) {
    try {
      interpreted(text);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_THAT(limit_of("program p stage=loops param A: global float32[1001] A[0] = 1.0"),
              HasSubstr("error[TL6004]: the parameters have more than 1000 elements"));
  EXPECT_THAT(limit_of("program p stage=loops\nbuffer.alloca C: local float32[281474976710656]"),
              HasSubstr("error[TL6004]: the program takes more than 1000 steps\n  --> p.tl:2"));
  EXPECT_THAT(limit_of("program p stage=loops\nfor i < 2000000000 {\n}"),
              HasSubstr("error[TL6004]"));
  EXPECT_THAT(
      limit_of("program p stage=kernels launch k() grid=(1, 1, 1) block=(1, 1, 1000000000)\n"
               "kernel k grid=(1, 1, 1) block=(1, 1, 1000000000)\n"
               "axis z = threadIdx.z < 1000000000"),
      HasSubstr("error[TL6004]"));
  EXPECT_THAT(
      limit_of("program p stage=kernels launch k() grid=(1000000000, 1, 1) block=(1, 1, 1)\n"
               "kernel k grid=(1000000000, 1, 1) block=(1, 1, 1)\n"
               "axis x = blockIdx.x < 1000000000"),
      HasSubstr("error[TL6004]"));
}

}  // namespace
}  // namespace texloom::opt
