#include "lower/kernels/partition_loops.h"

#include <gtest/gtest.h>

#include "ir/text/parse.h"
#include "ir/verify/verify.h"
#include "tests/lower/passes.h"

namespace texloom::lower {
namespace {

// A kernel over X and Y with this body and these thread axes.
std::string kernel_text(std::string_view grid, std::string_view axes, std::string_view body) {
  constexpr std::string_view kParams =
      "  param X: {}global float32[4096]\n  param Y: {}global float32[4096]\n";
  std::string text = "program main stage=kernels\n";
  text += fmt::format(kParams, "", "") +
          fmt::format("  launch k(X, Y) {}\n\nkernel k {}\n", grid, grid);
  text += fmt::format(kParams, "read ", "write ");
  return text.append(axes).append(body);
}

// The body after the pass.
std::string partitioned(const std::string& text, const ir::Target& target = {}) {
  Lowering lowering;
  lowering.target = target;
  lowering.program = ir::parse_program(text, "test.tl");
  partition_loops(lowering);
  ir::verify(lowering.program);
  return to_string(lowering.program.kernels.front().body);
}
std::string serial(std::string_view body) {
  return partitioned(
      kernel_text("grid=(1, 1, 1) block=(4, 1, 1)", "  axis tx = threadIdx.x < 4\n", body));
}
std::string tiled(std::string_view body, const ir::Target& target = {}) {
  return partitioned(kernel_text("grid=(9, 1, 1) block=(4, 1, 1)",
                                 "  axis bx = blockIdx.x < 9\n  axis tx = threadIdx.x < 4\n", body),
                     target);
}

// A last iteration that fails the guard is split off, without the guarded statement.
TEST(PartitionLoops, CutsTheEndOff) {
  EXPECT_EQ(serial("  for k < 33 {\n"
                   "    Y[k * 2] = X[k]\n"
                   "    if k < 32 {\n"
                   "      Y[k * 2 + 1] = X[k]\n"
                   "    }\n"
                   "  }\n"),
            "for k < 32 {\n"
            "  Y[k * 2] = X[k]\n"
            "  Y[k * 2 + 1] = X[k]\n"
            "}\n"
            "Y[64] = X[32]\n");
}

TEST(PartitionLoops, CutsWhereverAComparisonSays) {
  for (const std::string_view test : {"k < 32", "k <= 31", "32 > k", "31 >= k"}) {
    EXPECT_EQ(serial(fmt::format("  for k < 33 {{ if {} {{ Y[k] = X[k] }} }}\n", test)),
              "for k < 32 {\n"
              "  Y[k] = X[k]\n"
              "}\n")
        << test;
  }
}

// Each piece has its own copy of an array that the loop allocates.
TEST(PartitionLoops, CopiesFitIntoTheTarget) {
  const std::string body =
      "  for k < 33 {\n"
      "    buffer.alloca P: local float32[4]\n"
      "    for i < 4 {\n"
      "      P[i] = X[k * 4 + i]\n"
      "    }\n"
      "    if k < 32 {\n"
      "      Y[k] = P[0] + P[3]\n"
      "    }\n"
      "    Y[k + 64] = P[1]\n"
      "  }\n";
  const std::string text =
      kernel_text("grid=(1, 1, 1) block=(4, 1, 1)", "  axis tx = threadIdx.x < 4\n", body);
  ir::Target target;
  target.limits.private_memory_bytes = 32;
  EXPECT_EQ(partitioned(text, target).find("if"), std::string::npos);
  target.limits.private_memory_bytes = 31;
  EXPECT_NE(partitioned(text, target).find("if k < 32"), std::string::npos);
}

// With padding on both sides, the interior reads without a select for all threads.
TEST(PartitionLoops, CutsBothEndsOff) {
  EXPECT_EQ(serial("  for k < 20 {\n"
                   "    Y[k] = select(k + tx >= 2 && k + tx < 19, X[k + tx - 2], 0.0)\n"
                   "  }\n"),
            "for k < 2 {\n"
            "  Y[k] = select(k + tx >= 2, X[k + tx - 2], 0.0)\n"
            "}\n"
            "for k < 14 {\n"
            "  Y[k + 2] = X[k + tx]\n"
            "}\n"
            "for k < 4 {\n"
            "  Y[k + 16] = select(k + tx + 16 < 19, X[k + tx + 14], 0.0)\n"
            "}\n");
}

// A vector is in the interior if its first and its last lane are.
TEST(PartitionLoops, Vectors) {
  EXPECT_EQ(serial("  for k < 5 {\n"
                   "    Y[ramp(k * 4, 1, 4)] = select(ramp(k * 4, 1, 4) < x4(18), "
                   "X[ramp(k * 4, 1, 4)], x4(0.0))\n"
                   "  }\n"),
            "for k < 4 {\n"
            "  Y[ramp(k * 4, 1, 4)] = X[ramp(k * 4, 1, 4)]\n"
            "}\n"
            "Y[ramp(16, 1, 4)] = "
            "select(ramp(16, 1, 4) < x4(18), X[ramp(16, 1, 4)], x4(0.0))\n");
}

// An interior of less than half of the loop is not split off.
TEST(PartitionLoops, LeavesShortInteriors) {
  const std::string body =
      "for k < 3 {\n"
      "  Y[k] = select(k + tx >= 1 && k + tx < 5, X[k], 0.0)\n"
      "}\n";
  EXPECT_EQ(serial("  for k < 3 {\n"
                   "    Y[k] = select(k + tx >= 1 && k + tx < 5, X[k], 0.0)\n"
                   "  }\n"),
            body);
}

// The loop is split where a quotient changes, so no division remains.
TEST(PartitionLoops, Folds) {
  EXPECT_EQ(serial("  for k < 40 {\n"
                   "    Y[floordiv(k, 16) + floormod(k, 16) * 8] = X[floordiv(2 - k, 32) + 2]\n"
                   "  }\n"),
            "for k < 3 {\n"
            "  Y[k * 8] = X[2]\n"
            "}\n"
            "for k < 13 {\n"
            "  Y[k * 8 + 24] = X[1]\n"
            "}\n"
            "for k < 16 {\n"
            "  Y[k * 8 + 1] = X[1]\n"
            "}\n"
            "for k < 3 {\n"
            "  Y[k * 8 + 2] = X[1]\n"
            "}\n"
            "for k < 5 {\n"
            "  Y[k * 8 + 26] = X[0]\n"
            "}\n");
  const std::string many = "for k < 40 {\n  Y[floordiv(k, 4)] = X[k]\n}\n";
  EXPECT_EQ(serial("  for k < 40 {\n    Y[floordiv(k, 4)] = X[k]\n  }\n"), many);
}

// A loop whose test depends on the block is duplicated.
TEST(PartitionLoops, BlocksOfTheGrid) {
  EXPECT_EQ(tiled("  for k < 4 {\n"
                  "    if bx * 16 + tx * 4 + k < 130 {\n"
                  "      Y[bx * 16 + tx * 4 + k] = X[k]\n"
                  "    }\n"
                  "  }\n"),
            "if bx < 8 {\n"
            "  for k < 4 {\n"
            "    Y[bx * 16 + tx * 4 + k] = X[k]\n"
            "  }\n"
            "}\n"
            "if !(bx < 8) {\n"
            "  for k < 4 {\n"
            "    if bx * 16 + tx * 4 + k < 130 {\n"
            "      Y[bx * 16 + tx * 4 + k] = X[k]\n"
            "    }\n"
            "  }\n"
            "}\n");
}

// Barriers may be in both copies, because the guard is the same for all threads of a block. Targets
// without conditional barriers get no copies.
TEST(PartitionLoops, Barriers) {
  const std::string body =
      "  for k < 4 {\n"
      "    barrier\n"
      "    if bx * 16 + tx * 4 + k < 130 {\n"
      "      Y[bx * 16 + tx * 4 + k] = X[k]\n"
      "    }\n"
      "  }\n";
  ir::Target target;
  target.quirks.conditional_barriers = false;
  EXPECT_EQ(tiled(body, target).find("bx < 8"), std::string::npos);
  target.quirks.conditional_barriers = true;
  EXPECT_EQ(tiled(body, target),
            "if bx < 8 {\n"
            "  for k < 4 {\n"
            "    barrier\n"
            "    Y[bx * 16 + tx * 4 + k] = X[k]\n"
            "  }\n"
            "}\n"
            "if !(bx < 8) {\n"
            "  for k < 4 {\n"
            "    barrier\n"
            "    if bx * 16 + tx * 4 + k < 130 {\n"
            "      Y[bx * 16 + tx * 4 + k] = X[k]\n"
            "    }\n"
            "  }\n"
            "}\n");
}

// In a kernel with barriers, a target without conditional barriers gets no copies of loops, since
// its compiler may add barriers to them. Statements without loops are copied.
TEST(PartitionLoops, LoopsBesideBarriers) {
  const std::string loop =
      "  for k < 4 {\n"
      "    if bx * 16 + tx * 4 + k < 130 {\n"
      "      Y[bx * 16 + tx * 4 + k] = X[k]\n"
      "    }\n"
      "  }\n";
  const std::string tests =
      "  if bx * 4 + tx < 33 {\n    Y[bx * 4 + tx] = X[0]\n  }\n"
      "  if bx * 4 + tx < 34 {\n    Y[bx * 4 + tx] = X[1]\n  }\n";
  const std::string barrier = "  barrier\n";
  ir::Target target;
  const auto copied = [&](const std::string& body, bool conditional_barriers) {
    target.quirks.conditional_barriers = conditional_barriers;
    return tiled(body, target).find("if bx < 8") != std::string::npos;
  };
  EXPECT_FALSE(copied(loop + barrier, false));
  EXPECT_FALSE(copied(barrier + loop, false));
  EXPECT_TRUE(copied(loop + barrier, true));
  EXPECT_TRUE(copied(loop, false));
  EXPECT_TRUE(copied(tests + barrier, false));
}

// A border copy does not pay off if few of the copied statements have tests.
TEST(PartitionLoops, RareTests) {
  const auto copied = [](int stores) {
    std::string body = "  for k < 4 {\n    if bx * 4 + tx < 33 {\n      Y[0] = X[k]\n    }\n";
    for (int n = 1; n < stores; ++n) body += fmt::format("    Y[{}] = X[k]\n", n);
    return tiled(body + "  }\n").find("if bx < 8") != std::string::npos;
  };
  EXPECT_TRUE(copied(4));
  EXPECT_FALSE(copied(5));
}

// A single test outside loops stays, but for several tests in sequence, a border copy is made.
TEST(PartitionLoops, StatementsOutsideLoops) {
  const std::string one =
      "if bx * 4 + tx < 33 {\n"
      "  Y[bx * 4 + tx] = X[0]\n"
      "}\n";
  EXPECT_EQ(tiled("  if bx * 4 + tx < 33 {\n    Y[bx * 4 + tx] = X[0]\n  }\n"), one);
  EXPECT_EQ(tiled("  Y[0] = X[0]\n"
                  "  if bx * 4 + tx < 33 {\n    Y[bx * 4 + tx] = X[0]\n  }\n"
                  "  if bx * 4 + tx < 34 {\n    Y[bx * 4 + tx] = X[1]\n  }\n"
                  "  Y[1] = X[0]\n"),
            "Y[0] = X[0]\n"
            "if bx < 8 {\n"
            "  Y[bx * 4 + tx] = X[0]\n"
            "  Y[bx * 4 + tx] = X[1]\n"
            "}\n"
            "if !(bx < 8) {\n"
            "  if bx * 4 + tx < 33 {\n"
            "    Y[bx * 4 + tx] = X[0]\n"
            "  }\n"
            "  if bx * 4 + tx < 34 {\n"
            "    Y[bx * 4 + tx] = X[1]\n"
            "  }\n"
            "}\n"
            "Y[1] = X[0]\n");
}

// Tests of loaded values, and tests that differ only between threads, are not bounds tests.
TEST(PartitionLoops, OtherTests) {
  for (const char* test :
       {"X[k] < 5.0", "tx < 3", "k == 4", "k < 32 || tx < 1", "floormod(k, 3) < 2"}) {
    const std::string body =
        fmt::format("for k < 33 {{\n  if {} {{\n    Y[k] = X[k]\n  }}\n}}\n", test);
    EXPECT_EQ(serial(fmt::format("  for k < 33 {{\n    if {} {{\n      Y[k] = X[k]\n    }}\n  }}\n",
                                 test)),
              body);
  }
}

// The number of stores that copies add to a kernel is bounded.
TEST(PartitionLoops, LimitsGrowth) {
  const auto cut = [](int stores) {
    std::string body = "  for k < 33 {\n    if k < 32 {\n";
    for (int n = 0; n < stores; ++n) body += fmt::format("      Y[k + {}] = X[k]\n", n);
    return serial(body + "    }\n  }\n").find("if") == std::string::npos;
  };
  EXPECT_TRUE(cut(256));
  EXPECT_FALSE(cut(257));
}

}  // namespace
}  // namespace texloom::lower
