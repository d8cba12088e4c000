// Tests where a launch plan allocates and frees the temporaries of a program.
#include "compile/launch_plan.h"

#include <gtest/gtest.h>

#include "compile/compile.h"
#include "ir/text/parse.h"
#include "runtime/plan/validation.h"

namespace texloom::compile {
namespace {

constexpr std::string_view kPlannedChain = R"(program main stage=kernels
  param A: global float32[8]
  param C: global float32[8]
  buffer.alloca T: global float32[8]
  buffer.alloca U: global float32[8]
  launch k0(A, T) grid=(8, 1, 1) block=(1, 1, 1)
  for s < 2 {
    launch k1(T, U) grid=(8, 1, 1) block=(1, 1, 1)
  }
  buffer.free T
  launch k2(U, C) grid=(8, 1, 1) block=(1, 1, 1)
  buffer.free U

kernel k0 grid=(8, 1, 1) block=(1, 1, 1)
  param A: read global float32[8]
  param T: write global float32[8]
  axis i = blockIdx.x < 8
  T[i] = A[i]

kernel k1 grid=(8, 1, 1) block=(1, 1, 1)
  param T: read global float32[8]
  param U: write global float32[8]
  axis i = blockIdx.x < 8
  U[i] = T[i]

kernel k2 grid=(8, 1, 1) block=(1, 1, 1)
  param U: read global float32[8]
  param C: write global float32[8]
  axis i = blockIdx.x < 8
  C[i] = U[i]
)";

std::string text_of(const std::vector<runtime::Step>& steps) {
  std::string text;
  for (const runtime::Step& step : steps) {
    if (const auto* allocate = std::get_if<runtime::AllocateStep>(&step)) {
      text += "allocate " + std::to_string(allocate->temporary) + "\n";
    } else if (const auto* free = std::get_if<runtime::FreeStep>(&step)) {
      text += "free " + std::to_string(free->temporary) + "\n";
    } else if (const auto* launch = std::get_if<runtime::LaunchStep>(&step)) {
      text += "launch " + std::to_string(launch->kernel) + "\n";
    } else {
      text += "loop {\n" + text_of(std::get<runtime::LoopStep>(step).body) + "}\n";
    }
  }
  return text;
}

// Each temporary is allocated just before the step that first uses it, even if that step is a loop.
// So the temporary can reuse memory that was freed earlier.
TEST(LaunchPlan, TemporariesBeginWhereTheyAreUsed) {
  const ir::Program program = ir::parse_program(kPlannedChain, "chain.tl", {});
  const ir::Target target;
  const runtime::LaunchPlan plan = make_launch_plan(generate(program, target));
  EXPECT_EQ(plan.temporaries.size(), 2);
  EXPECT_EQ(text_of(plan.steps),
            "allocate 0\nlaunch 0\nallocate 1\nloop {\nlaunch 1\n}\nfree 0\nlaunch 2\nfree 1\n");
  EXPECT_TRUE(runtime::validate(plan).ok());
}

// A driver gives it to the device's compiler. Native code is made already.
TEST(LaunchPlan, ModulesHaveTheMathModeOfTheTarget) {
  const ir::Program program = ir::parse_program(kPlannedChain, "chain.tl", {});
  const auto math_of = [&](const char* target) {
    const runtime::LaunchPlan plan =
        make_launch_plan(generate(program, ir::parse_target(target, {})));
    return plan.modules.front().math;
  };
  EXPECT_EQ(math_of("opencl"), hal::MathMode::Strict);
  EXPECT_EQ(math_of("opencl -fast_math=1"), hal::MathMode::Fast);
  EXPECT_EQ(math_of("metal -fast_math=1"), hal::MathMode::Fast);
}

}  // namespace
}  // namespace texloom::compile
