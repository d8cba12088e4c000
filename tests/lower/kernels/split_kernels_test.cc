// Tests making the launch plan: kernels, temporaries and where they are freed.
#include "lower/kernels/split_kernels.h"

#include <gtest/gtest.h>

#include "tests/ir/accesses.h"
#include "tests/lower/passes.h"

namespace texloom::lower {
namespace {

void split_kernels(Lowering& lowering) {
  launch_nests(lowering);
  free_temporaries(lowering);
}

using namespace testing;
using ir::Buffer;
using ir::Expr;
using ir::kFloat32;
using ir::make_allocate;
using ir::make_int;
using ir::make_seq;
using ir::make_var;
using ir::put;
using ir::Stmt;
using schedule::testing::line;

class SplitKernels : public ::testing::Test {
 protected:
  // A nest that copies.
  static Stmt copy(const Buffer& to, const Buffer& from) {
    const Expr i = make_var("i");
    return make_nest(to, make_thread_for(i, make_int(16), {true, 0}, put(to, i, at(from, i))),
                     line(4));
  }
  static std::string plan(const Stmt& body) {
    Lowering lowering;
    lowering.program.name = "main";
    lowering.program.body = body;
    split_kernels(lowering);
    return plan_of(lowering.program);
  }

  Buffer a = ir::global("a", kFloat32, 16), b = ir::global("b", kFloat32, 16);
  Buffer c = ir::global("c", kFloat32, 16), d = ir::global("d", kFloat32, 16);
};

TEST_F(SplitKernels, OneKernel) { EXPECT_EQ(plan(copy(b, a)), "launch main_kernel0\n"); }

TEST_F(SplitKernels, Lines) {
  Lowering lowering;
  lowering.program.body = make_allocate(b, copy(b, a), line(9));
  split_kernels(lowering);
  EXPECT_EQ(lowering.program.body->location.line, 9);
  std::vector<int> lines;
  walk(
      lowering.program.body, [&](const ir::Launch& s) { lines.push_back(s.location.line); },
      [&](const ir::Free& s) { lines.push_back(s.location.line); });
  EXPECT_EQ(lines, (std::vector<int>{4, 4}));
}

// Temporaries are freed after the last launch that uses them.
TEST_F(SplitKernels, Temporaries) {
  EXPECT_EQ(plan(make_allocate(b, make_seq({copy(b, a), copy(c, b), copy(d, a)}))),
            "allocate b\n"
            "launch main_kernel0\nlaunch main_kernel1\nfree b\nlaunch main_kernel2\n");
  EXPECT_EQ(plan(make_allocate(b, copy(b, a))), "allocate b\nlaunch main_kernel0\nfree b\n");
}

// Temporaries of the program are freed after their last launch, too; several are freed in order.
TEST_F(SplitKernels, TemporariesOfTheProgram) {
  Lowering lowering;
  lowering.program.name = "main";
  lowering.program.temporaries = {b, c};
  lowering.program.body = make_seq({copy(b, a), copy(c, b), copy(d, c), copy(c, b), copy(d, a)});
  split_kernels(lowering);
  EXPECT_EQ(plan_of(lowering.program),
            "launch main_kernel0\nlaunch main_kernel1\nlaunch main_kernel2\n"
            "launch main_kernel3\nfree b\nfree c\nlaunch main_kernel4\n");
}

// The second temporary is allocated while the first is in use.
TEST_F(SplitKernels, NestedTemporaries) {
  const Stmt inner = make_allocate(c, make_seq({copy(c, b), copy(d, c)}), line(8));
  EXPECT_EQ(plan(make_allocate(b, make_seq({copy(b, a), inner}))),
            "allocate b\n"
            "launch main_kernel0\n"
            "allocate c\n"
            "launch main_kernel1\nfree b\nlaunch main_kernel2\nfree c\n");
}

TEST_F(SplitKernels, TemporaryAroundAnother) {
  const Stmt both = make_seq({copy(b, a), copy(c, b), copy(d, c), copy(a, b)});
  EXPECT_EQ(plan(make_allocate(b, make_allocate(c, both))),
            "allocate b\n"
            "allocate c\n"
            "launch main_kernel0\nlaunch main_kernel1\nlaunch main_kernel2\nfree c\nlaunch "
            "main_kernel3\nfree b\n");
}

// In a complete schedule, kernels are numbered in order, and parameters follow their use.
TEST_F(SplitKernels, OfASchedule) {
  using namespace schedule::testing;
  const ir::Tensor x = placeholder("X", {8, 4}), y = plus_one(x, "Y"), z = plus_one(y, "Z");
  Te te({z});
  for (const ir::Tensor& t : {y, z}) te.bind(t, te.axis(t, 0), "threadIdx.x");
  Lowering lowering = lowering_of(te, {x, z});
  run_to(lowering, "split_kernels");
  EXPECT_EQ(plan_of(lowering.program),
            "launch main_kernel0\n"
            "launch main_kernel1\n"
            "free Y\n");
  ASSERT_EQ(lowering.program.kernels.size(), 2U);
  EXPECT_EQ(lowering.program.kernels[1].name, "main_kernel1");
  EXPECT_EQ(to_string(lowering.program.kernels[1].body),
            "for j < 4 {\n  Z[threadIdx.x * 4 + j] = Y[threadIdx.x * 4 + j] + 1.0\n}\n");
}

}  // namespace
}  // namespace texloom::lower
