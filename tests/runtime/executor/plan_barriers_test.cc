// Tests where barriers are inserted into plans; all tests with device_program_fixture.h check them.
#include "runtime/executor/plan_barriers.h"

#include <string>

#include "tests/runtime/plan/plan_fixture.h"
#include "tests/runtime/status_matchers.h"

namespace texloom::runtime {
namespace {

using hal::Access;

// Kernel 0 reads a buffer and writes another; kernel 1 adds one buffer to another; kernel 2 reads a
// texture without stating its extent, and writes a buffer; kernel 3 writes a texture.
LaunchPlan plan_of(std::vector<TensorSpec> temporaries, std::vector<Step> steps) {
  const hal::BufferParam read{.name = "in", .min_bytes = 64};
  const hal::BufferParam write{.name = "out", .access = Access::Write, .min_bytes = 64};
  const hal::BufferParam add{.name = "sum", .access = Access::ReadWrite, .min_bytes = 64};
  const hal::TextureParam any{.name = "image"};
  const hal::TextureParam texels{.name = "image", .access = Access::Write, .min_extent = {4, 4}};
  LaunchPlan plan = TestPlan{
      .arguments = {buffer_tensor("X", 64), buffer_tensor("Y", 64), buffer_tensor("Z", 64)},
      .temporaries = std::move(temporaries),
      .kernels = {{.entry = {.name = "copy", .params = {read, write}}},
                  {.entry = {.name = "add", .params = {read, add}}},
                  {.entry = {.name = "look", .params = {any, write}}},
                  {.entry = {.name = "paint", .params = {texels}}}},
      .steps = std::move(steps)};
  plan.workspace.emplace();
  plan.workspace->places.resize(plan.temporaries.size());
  for (std::uint32_t i = 0; i < plan.temporaries.size(); ++i) {
    plan.workspace->objects.push_back(plan.temporaries[i].storage);
    plan.workspace->places[i].object = i;
  }
  return plan;
}

Step run(std::uint32_t kernel, std::vector<Operand> operands) {
  return launch(kernel, {1, 1, 1}, std::move(operands));
}

// Returns a letter for each step: l for a launch, c for a call, | for a barrier; loops in brackets.
std::string text_of(const std::vector<Step>& steps) {
  std::string text;
  for (const Step& step : steps) {
    if (std::holds_alternative<LaunchStep>(step)) text += 'l';
    if (std::holds_alternative<CallStep>(step)) text += 'c';
    if (std::holds_alternative<BarrierStep>(step)) text += '|';
    if (const auto* loop = std::get_if<LoopStep>(&step)) text += "[" + text_of(loop->body) + "]";
  }
  return text;
}

std::string barriers(LaunchPlan plan) {
  const Status status = add_barriers(plan);
  EXPECT_TRUE(status.ok()) << status.to_string();
  EXPECT_TRUE(plan.names_barriers);
  return text_of(plan.steps);
}

TEST(PlanBarriers, StandBetweenDependentSteps) {
  const Operand x = argument(0), y = argument(1), z = argument(2);
  EXPECT_EQ(barriers(plan_of({}, {run(0, {x, y}), run(0, {x, z})})), "ll");   // both read
  EXPECT_EQ(barriers(plan_of({}, {run(0, {x, y}), run(0, {y, z})})), "l|l");  // read after write
  EXPECT_EQ(barriers(plan_of({}, {run(0, {x, y}), run(0, {z, x})})), "l|l");  // write after read
  EXPECT_EQ(barriers(plan_of({}, {run(0, {x, z}), run(0, {y, z})})), "l|l");  // both write
  EXPECT_EQ(barriers(plan_of({}, {run(0, {x, y}), BarrierStep{}, run(0, {y, z})})), "l|l");
  // Launch 3 depends only on launch 1, which the barrier already orders before launch 3.
  EXPECT_EQ(barriers(plan_of({}, {run(0, {x, y}), run(1, {x, y}), run(0, {x, z})})), "l|ll");
}

TEST(PlanBarriers, KnowThePlacesOfTemporaries) {
  const Operand a = temporary(0), b = temporary(1);
  LaunchPlan plan = plan_of({buffer_tensor("a", 64), buffer_tensor("b", 64)},
                            {run(0, {argument(0), a}), run(0, {argument(0), b})});
  EXPECT_EQ(barriers(plan), "ll");
  plan.workspace = {.objects = {BufferStorage{128}}, .places = {{.offset = 0}, {.offset = 64}}};
  EXPECT_EQ(barriers(plan), "ll");
  plan.workspace->places[1].offset = 63;
  EXPECT_EQ(barriers(plan), "l|l");
}

// A kernel that does not state the extent it reads may read texels beside its tensor.
TEST(PlanBarriers, KnowWhatKernelsDoNotState) {
  const Operand a = temporary(0), b = temporary(1);
  LaunchPlan plan = plan_of({texture_tensor("a", {4, 4}), texture_tensor("b", {4, 4})},
                            {run(3, {a}), run(3, {b})});
  plan.workspace = {.objects = {TextureStorage{{8, 4}}},
                    .places = {{.origin = {0, 0}}, {.origin = {4, 0}}}};
  EXPECT_EQ(barriers(plan), "ll");
  plan.steps = {run(3, {b}), run(2, {a, argument(0)})};
  EXPECT_EQ(barriers(plan), "l|l");
}

TEST(PlanBarriers, OfLoops) {
  const Operand x = argument(0), y = argument(1), z = argument(2);
  // Iterations add to one sum: each waits for the previous iteration.
  EXPECT_EQ(barriers(plan_of({}, {loop(0, 3, {run(1, {x, y})})})), "[|l]");
  // Iterations write one buffer, so each waits; one barrier before the loop orders the launch
  // before.
  EXPECT_EQ(barriers(plan_of({}, {run(0, {x, y}), loop(0, 3, {run(0, {y, z})}), run(0, {z, x})})),
            "l|[|l]|l");
  // Two dependent launches need barriers within an iteration and between iterations.
  EXPECT_EQ(barriers(plan_of({}, {loop(0, 3, {run(1, {x, y}), run(1, {y, z})})})), "[|l|l]");
  // An inner loop's barriers suffice for the outer loop.
  EXPECT_EQ(barriers(plan_of({}, {loop(0, 3, {loop(1, 2, {run(1, {x, y})})})})), "[|[|l]]");
  // The loop may have no iterations, so a barrier after it orders the launches around it.
  EXPECT_EQ(barriers(plan_of({}, {run(0, {x, y}), loop(0, 0, {run(1, {x, z})}), run(1, {x, y})})),
            "l[|l]|l");
}

TEST(PlanBarriers, OfCalls) {
  LaunchPlan plan = plan_of(
      {}, {run(0, {argument(0), argument(1)}), CallStep{0, {{TensorRef::Kind::Argument, 1}}},
           CallStep{0, {{TensorRef::Kind::Argument, 1}}},
           CallStep{1, {{TensorRef::Kind::Argument, 1}}}});
  plan.calls = {{.op = "mine::look", .accesses = {Access::Read}},
                {.op = "mine::change", .accesses = {Access::ReadWrite}}};
  EXPECT_EQ(barriers(plan), "l|cc|c");
}

TEST(PlanBarriers, NeedKnownPlaces) {
  LaunchPlan plan = plan_of({}, {});
  plan.workspace.reset();
  EXPECT_FALSE(add_barriers(plan).ok());
  plan = plan_of({}, {});
  plan.symbols = {"n"};
  EXPECT_FALSE(add_barriers(plan).ok());
}

}  // namespace
}  // namespace texloom::runtime
