// Tests which temporaries share an object.
#include "runtime/plan_workspace.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/runtime/plan_fixture.h"

namespace texloom::runtime {
namespace {

// Allocates and frees each temporary in turn.
WorkspacePlan share_in_turn(
    std::vector<TensorSpec> temporaries,
    std::uint64_t max_object_bytes = std::numeric_limits<std::uint64_t>::max()) {
  LaunchPlan plan;
  plan.temporaries = std::move(temporaries);
  for (std::uint32_t i = 0; i < plan.temporaries.size(); ++i) {
    plan.steps.emplace_back(AllocateStep{i});
    plan.steps.emplace_back(FreeStep{i});
  }
  return plan_workspace(plan, max_object_bytes);
}

using Objects = std::vector<std::uint32_t>;

Objects objects_of(const WorkspacePlan& plan) {
  Objects objects;
  for (const Placement& place : plan.places) objects.push_back(place.object);
  return objects;
}

TEST(Workspace, FreedObjectsAreTakenOverWhenTheyFit) {
  const auto plan = share_in_turn(
      {texture_tensor("A", {8, 8}), texture_tensor("B", {4, 8}), texture_tensor("C", {8, 8})});
  EXPECT_EQ(objects_of(plan), (Objects{0, 0, 0}));
  EXPECT_EQ(plan.objects.size(), 1u);
}

TEST(Workspace, TexturesMustFitInBothAxesWhateverTheirArea) {
  // As many texels or more, but not wide or not high enough.
  const auto plan = share_in_turn(
      {texture_tensor("wide", {64, 16}), texture_tensor("tall", {16, 64}),
       texture_tensor("wide again", {60, 16}), texture_tensor("tall again", {16, 60})});
  EXPECT_EQ(objects_of(plan), (Objects{0, 1, 0, 1}));
}

TEST(Workspace, ObjectsTooLargeInOneAxisAreLeftAlone) {
  EXPECT_EQ(objects_of(share_in_turn({texture_tensor("A", {40, 8}), texture_tensor("B", {8, 8})})),
            (Objects{0, 0}));
  EXPECT_EQ(objects_of(share_in_turn({texture_tensor("A", {41, 8}), texture_tensor("B", {8, 8})})),
            (Objects{0, 1}));
  EXPECT_EQ(objects_of(share_in_turn({texture_tensor("A", {8, 41}), texture_tensor("B", {8, 8})})),
            (Objects{0, 1}));
  EXPECT_EQ(objects_of(share_in_turn({buffer_tensor("A", 40), buffer_tensor("B", 8)})),
            (Objects{0, 0}));
  EXPECT_EQ(objects_of(share_in_turn({buffer_tensor("A", 41), buffer_tensor("B", 8)})),
            (Objects{0, 1}));
}

// An object grows if that takes less memory than a second one; nothing has been allocated yet.
TEST(Workspace, ObjectsGrow) {
  const std::vector<TensorSpec> tensors = {texture_tensor("A", {12, 10}),
                                           texture_tensor("B", {10, 12})};
  const auto shared = share_in_turn(tensors);
  EXPECT_EQ(objects_of(shared), (Objects{0, 0}));
  EXPECT_EQ(std::get<TextureStorage>(shared.objects.at(0)).extent, (hal::Extent2D{12, 12}));
  // 12x12 texels exceed the limit.
  EXPECT_EQ(objects_of(share_in_turn(tensors, 12 * 12 * 16 - 1)), (Objects{0, 1}));
  EXPECT_EQ(objects_of(share_in_turn(tensors, 12 * 12 * 16)), (Objects{0, 0}));
  const auto buffers = share_in_turn({buffer_tensor("A", 8), buffer_tensor("B", 40)});
  EXPECT_EQ(objects_of(buffers), (Objects{0, 0}));
  EXPECT_EQ(std::get<BufferStorage>(buffers.objects.at(0)).bytes, 40U);
  EXPECT_EQ(objects_of(share_in_turn({buffer_tensor("A", 8), buffer_tensor("B", 41)})),
            (Objects{0, 1}));
}

TEST(Workspace, FormatsAndKindsDoNotMix) {
  const auto plan = share_in_turn({texture_tensor("A", {8, 8}),
                                   texture_tensor("B", {8, 8}, hal::TexelFormat::Rgba16Float),
                                   buffer_tensor("C", 1024)});
  EXPECT_EQ(objects_of(plan), (Objects{0, 1, 2}));
}

LaunchPlan plan_of(std::vector<TensorSpec> temporaries, std::vector<Step> steps) {
  LaunchPlan plan;
  plan.temporaries = std::move(temporaries);
  plan.steps = std::move(steps);
  return plan;
}

TEST(Workspace, LiveTemporariesNeverShare) {
  const auto plan =
      plan_workspace(plan_of({buffer_tensor("A", 8), buffer_tensor("B", 8), buffer_tensor("C", 8)},
                             {AllocateStep{0}, AllocateStep{1}, FreeStep{0}, AllocateStep{2}}));
  EXPECT_EQ(objects_of(plan), (Objects{0, 1, 0}));
}

TEST(Workspace, ExactFitThenLeastWasteWhateverTheirOrder) {
  const auto plan = plan_workspace(
      plan_of({texture_tensor("close", {12, 10}), texture_tensor("exact", {10, 10}),
               texture_tensor("large", {20, 20}), texture_tensor("1", {10, 10}),
               texture_tensor("2", {10, 10}), texture_tensor("3", {10, 10})},
              {AllocateStep{0}, AllocateStep{1}, AllocateStep{2}, FreeStep{0}, FreeStep{1},
               FreeStep{2}, AllocateStep{3}, AllocateStep{4}, AllocateStep{5}}));
  EXPECT_EQ(objects_of(plan), (Objects{0, 1, 2, 1, 0, 2}));
}

TEST(Workspace, LoopsUseTheSameObjectsEachTime) {
  const auto plan = plan_workspace(
      plan_of({buffer_tensor("outer", 8), buffer_tensor("A", 8), buffer_tensor("B", 8)},
              {AllocateStep{0},
               loop(0, 100, {AllocateStep{1}, FreeStep{1}, AllocateStep{2}, FreeStep{2}})}));
  EXPECT_EQ(objects_of(plan), (Objects{0, 1, 1}));
  EXPECT_EQ(plan.objects.size(), 2u);
}

}  // namespace
}  // namespace texloom::runtime
