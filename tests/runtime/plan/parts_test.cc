// Tests temporaries that are parts of other temporaries: rules, places, and concatenated plans.
#include <gtest/gtest.h>

#include "runtime/plan/concatenate.h"
#include "runtime/plan/validation.h"
#include "runtime/plan/workspace.h"
#include "runtime/plan/workspace_check.h"
#include "tests/runtime/plan/plan_fixture.h"
#include "tests/runtime/status_matchers.h"

namespace texloom::runtime {
namespace {

using hal::Access;
using hal::TextureOrigin;
using hal::TextureParam;

using hal::fails_with;

constexpr hal::DeviceLimits kLimits{.max_image_width = 16384,
                                    .max_image_height = 16384,
                                    .max_allocation_bytes = 1 << 30,
                                    .buffer_offset_alignment = 16};

TensorRef ref(std::uint32_t index) { return {TensorRef::Kind::Temporary, index}; }

// The kernel reads one texture and writes another one.
KernelSpec copy_kernel(TextureOrigin origin) {
  KernelSpec kernel;
  kernel.entry.name = "copy";
  for (const Access access : {Access::Read, Access::Write}) {
    kernel.entry.params.emplace_back(
        TextureParam{.name = "t", .access = access, .min_extent = {8, 4}, .origin = origin});
  }
  return kernel;
}

// Textures `first` and `second` are the halves of `whole`; a launch copies `source` to `second`.
LaunchPlan halves(TextureOrigin origin = TextureOrigin::Constants) {
  LaunchPlan plan;
  plan.temporaries = {texture_tensor("whole", {8, 8}), texture_tensor("first", {8, 4}),
                      texture_tensor("second", {8, 4}), texture_tensor("source", {8, 4})};
  plan.parts = {{.temporary = 1, .whole = 0}, {.temporary = 2, .whole = 0, .origin = {0, 4}}};
  plan.modules.emplace_back();
  plan.kernels = {copy_kernel(origin)};
  plan.steps = {AllocateStep{0}, AllocateStep{3},
                LaunchStep{.kernel = 0, .operands = {temporary(3), temporary(2)}}, FreeStep{3},
                FreeStep{0}};
  return plan;
}

TEST(PlanParts, LieInTheirWholes) {
  LaunchPlan plan = halves();
  TL_EXPECT_OK(validate(plan));
  const auto workspace = plan_workspace(plan, kLimits, kQuickWorkspace);
  TL_EXPECT_OK(workspace.status());
  plan.workspace = *workspace;
  TL_EXPECT_OK(validate(plan));
  const auto& places = plan.workspace->places;
  EXPECT_EQ(places[1].object, places[0].object);
  EXPECT_EQ(places[1].origin, places[0].origin);
  EXPECT_EQ(places[2].origin, (hal::Offset2D{places[0].origin.x, places[0].origin.y + 4}));
  // The launch's source is in another image than its target, which is a part of `whole`.
  EXPECT_NE(places[3].object, places[0].object);
  plan.workspace->places[2].origin.y += 1;
  EXPECT_THAT(check_workspace(plan),
              fails_with(StatusCode::InvalidArgument, "part \"second\" is not at its place"));
}

TEST(PlanParts, BreakTheRules) {
  const auto refused = [](auto change, const char* message) {
    LaunchPlan plan = halves();
    change(plan);
    EXPECT_THAT(validate(plan), fails_with(StatusCode::InvalidArgument, message));
  };
  refused([](LaunchPlan& plan) { plan.parts[1].origin.y = 5; }, "is not a part of \"whole\"");
  refused([](LaunchPlan& plan) { plan.parts[1].offset = 16; }, "is not a part of \"whole\"");
  refused([](LaunchPlan& plan) { plan.parts[1].whole = 9; },
          "part of temporary 9, but there are 4 temporaries");
  refused([](LaunchPlan& plan) { plan.parts[1].temporary = 1; },
          "not listed by increasing temporary, or one is listed twice");
  refused(
      [](LaunchPlan& plan) {
        plan.parts.insert(plan.parts.begin(), PartOfTemporary{.temporary = 0, .whole = 3});
      },
      "is not a part of \"source\"");
  refused(
      [](LaunchPlan& plan) {
        plan.temporaries[3] = texture_tensor("source", {8, 8});
        plan.parts.insert(plan.parts.begin(), PartOfTemporary{.temporary = 0, .whole = 3});
      },
      "which is a part itself");
  refused([](LaunchPlan& plan) { plan.steps.insert(plan.steps.begin(), AllocateStep{1}); },
          "part \"first\" is allocated");
  refused([](LaunchPlan& plan) { plan.steps.erase(plan.steps.begin()); },
          "\"second\" is used while not allocated");
  // A kernel that assumes its texture's origin to be (0, 0) cannot write the second half.
  LaunchPlan plan = halves(TextureOrigin::Zero);
  plan.workspace = *plan_workspace(plan, kLimits, kQuickWorkspace);
  EXPECT_THAT(validate(plan), fails_with(StatusCode::InvalidArgument, "at origin (0, 0)"));
}

// The whole is live from the first plan that uses one of its parts to the last one.
TEST(PlanParts, KeepTheirWholeAlive) {
  LaunchPlan writer;
  writer.arguments = {buffer_tensor("to", 16)};
  LaunchPlan reader;
  reader.arguments = {buffer_tensor("from", 32)};
  const std::vector<PlanPart> parts = {
      {&writer, {ref(1)}}, {&writer, {ref(2)}}, {&reader, {ref(0)}}};
  PlanTensors tensors;
  tensors.temporaries = {buffer_tensor("whole", 32), buffer_tensor("a", 16),
                         buffer_tensor("b", 16)};
  tensors.parts = {{.temporary = 1, .whole = 0}, {.temporary = 2, .whole = 0, .offset = 16}};
  std::vector<std::size_t> plan_of_step;
  const auto joined = concatenate(tensors, parts, &plan_of_step);
  TL_EXPECT_OK(joined.status());
  TL_EXPECT_OK(validate(*joined));
  ASSERT_EQ(joined->steps.size(), 2);
  EXPECT_EQ(std::get<AllocateStep>(joined->steps[0]).temporary, 0);
  EXPECT_EQ(std::get<FreeStep>(joined->steps[1]).temporary, 0);
  EXPECT_EQ(plan_of_step, (std::vector<std::size_t>{0, 2}));
}

}  // namespace
}  // namespace texloom::runtime
