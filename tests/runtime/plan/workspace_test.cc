// Tests the placement of a plan's temporaries.
#include "runtime/plan/workspace.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "runtime/hal/internal/memory/reuse.h"
#include "runtime/plan/workspace_check.h"
#include "tests/runtime/plan/plan_fixture.h"
#include "tests/runtime/status_matchers.h"

namespace texloom::runtime {
namespace {

using hal::Access;
using hal::Extent2D;
using hal::Offset2D;
using hal::TextureOrigin;
using hal::TextureParam;

constexpr std::uint64_t kAlignment = 16;

hal::DeviceLimits device_limits(std::uint64_t max_allocation_bytes = 1 << 30) {
  return {.max_image_width = 16384,
          .max_image_height = 16384,
          .max_allocation_bytes = max_allocation_bytes,
          .buffer_offset_alignment = kAlignment};
}

LaunchPlan plan_of(std::vector<TensorSpec> temporaries, std::vector<Step> steps,
                   std::vector<KernelSpec> kernels = {}) {
  LaunchPlan plan;
  plan.temporaries = std::move(temporaries);
  plan.steps = std::move(steps);
  plan.kernels = std::move(kernels);
  return plan;
}

// Returns the plan's workspace, after a check of the plan with this workspace.
WorkspacePlan planned(LaunchPlan plan, const hal::DeviceLimits& limits = device_limits()) {
  const auto found = plan_workspace(plan, limits, kQuickWorkspace);
  TL_EXPECT_OK(found.status());
  if (!found.ok()) return {};
  plan.workspace = *found;
  TL_EXPECT_OK(check_workspace(plan));
  for (const Placement& place : found->places)
    EXPECT_EQ(place.offset % limits.buffer_offset_alignment, 0U);
  return *found;
}

// Returns a plan that allocates and frees one temporary after the other.
LaunchPlan in_turn(std::vector<TensorSpec> temporaries) {
  LaunchPlan plan = plan_of(std::move(temporaries), {});
  for (std::uint32_t i = 0; i < plan.temporaries.size(); ++i) {
    plan.steps.emplace_back(AllocateStep{i});
    plan.steps.emplace_back(FreeStep{i});
  }
  return plan;
}

std::uint64_t total_bytes(const WorkspacePlan& plan) {
  std::uint64_t bytes = 0;
  for (const TensorStorage& object : plan.objects) bytes += bytes_of(object);
  return bytes;
}

// A kernel with texture parameters.
KernelSpec kernel(std::vector<std::pair<Access, TextureOrigin>> params) {
  KernelSpec spec;
  for (const auto& [access, origin] : params)
    spec.entry.params.emplace_back(TextureParam{.name = "t", .access = access, .origin = origin});
  return spec;
}

TEST(Workspace, FreedMemoryIsTakenOver) {
  const auto plan = planned(in_turn({texture_tensor("A", {8, 8}), texture_tensor("B", {4, 8}),
                                     texture_tensor("C", {8, 8}), buffer_tensor("D", 64),
                                     buffer_tensor("E", 8), buffer_tensor("F", 640)}));
  EXPECT_EQ(plan.objects.size(), 2u);
  EXPECT_EQ(total_bytes(plan), 8 * 8 * 16 + 640u);
}

// Counters stay zero from launch to launch, so nothing else is in their object; all of them are.
TEST(Workspace, CountersHaveAnObjectOfTheirOwn) {
  const auto counters = [](std::string name, std::uint64_t bytes) {
    TensorSpec spec = buffer_tensor(std::move(name), bytes);
    spec.storage = BufferStorage{.bytes = bytes, .counters = true};
    return spec;
  };
  const LaunchPlan plan = plan_of(
      {buffer_tensor("A", 64), counters("M", 12), counters("N", 40), buffer_tensor("B", 64)},
      {AllocateStep{0}, AllocateStep{1}, FreeStep{0}, AllocateStep{2}, FreeStep{1}, FreeStep{2},
       AllocateStep{3}, FreeStep{3}});
  const WorkspacePlan found = planned(plan);
  ASSERT_EQ(found.objects.size(), 2U);
  EXPECT_EQ(found.places[0].object, found.places[3].object);
  EXPECT_EQ(found.places[1], found.places[2]);
  const TensorStorage& object = found.objects[found.places[1].object];
  EXPECT_TRUE(are_counters(object));
  EXPECT_EQ(bytes_of(object), 40U);
  EXPECT_FALSE(are_counters(found.objects[found.places[0].object]));
  EXPECT_EQ(least_workspace_bytes(plan), 104U);
}

TEST(Workspace, CountersShareWithNothingElse) {
  LaunchPlan plan = plan_of({buffer_tensor("A", 64)}, {AllocateStep{0}});
  plan.temporaries[0].storage = BufferStorage{.bytes = 64, .counters = true};
  plan.workspace = WorkspacePlan{.objects = {BufferStorage{64}}, .places = {{.object = 0}}};
  EXPECT_FALSE(check_workspace(plan).ok());
  plan.workspace->objects = {BufferStorage{.bytes = 64, .counters = true}};
  TL_EXPECT_OK(check_workspace(plan));
}

TEST(Workspace, WideAndTallTexturesDoNotShare) {
  const auto plan = planned(
      in_turn({texture_tensor("wide", {64, 16}), texture_tensor("tall", {16, 64}),
               texture_tensor("wide again", {60, 16}), texture_tensor("tall again", {16, 60})}));
  EXPECT_EQ(total_bytes(plan), 2 * 64 * 16 * 16u);
  EXPECT_EQ(plan.places[0].object, plan.places[2].object);
}

TEST(Workspace, FormatsAndKindsDoNotMix) {
  const auto plan = planned(in_turn({texture_tensor("A", {8, 8}),
                                     texture_tensor("B", {8, 8}, hal::TexelFormat::Rgba16Float),
                                     buffer_tensor("C", 1024)}));
  EXPECT_EQ(plan.objects.size(), 3u);
}

TEST(Workspace, TheBoundIsWhatIsLiveAtOnceOfEachKind) {
  const LaunchPlan plan =
      plan_of({texture_tensor("A", {8, 8}), texture_tensor("B", {4, 4}), buffer_tensor("C", 96),
               buffer_tensor("D", 64), buffer_tensor("E", 160)},
              {AllocateStep{0}, AllocateStep{2}, AllocateStep{3}, FreeStep{0}, AllocateStep{1},
               FreeStep{2}, AllocateStep{4}});
  EXPECT_EQ(least_workspace_bytes(plan), 8 * 8 * 16 + 64 + 160u);
  EXPECT_EQ(least_workspace_bytes({}), 0u);
}

// One object per buffer would take more: the third buffer is as large as the first two together.
TEST(Workspace, BuffersLieInOneArena) {
  const auto plan = planned(
      plan_of({buffer_tensor("A", 96), buffer_tensor("B", 64), buffer_tensor("C", 160)},
              {AllocateStep{0}, AllocateStep{1}, FreeStep{0}, FreeStep{1}, AllocateStep{2}}));
  ASSERT_EQ(plan.objects.size(), 1u);
  EXPECT_EQ(total_bytes(plan), 160u);
}

// If separate objects take no more bytes than an arena, they are used: they need no sub-buffers.
TEST(Workspace, BuffersHaveObjectsIfThatIsNoLarger) {
  const auto plan =
      planned(plan_of({buffer_tensor("A", 96), buffer_tensor("B", 64), buffer_tensor("C", 96)},
                      {AllocateStep{0}, AllocateStep{1}, FreeStep{0}, AllocateStep{2}}));
  EXPECT_EQ(plan.objects.size(), 2u);
  for (const Placement& place : plan.places) EXPECT_EQ(place.offset, 0U);
  EXPECT_EQ(plan.places[0].object, plan.places[2].object);
}

// The first four buffers do not fit into one allocation. The last one exceeds the limit alone, and
// the pool will refuse it.
TEST(Workspace, ArenasAreNoLargerThanAllocations) {
  const LaunchPlan plan =
      plan_of({buffer_tensor("A", 64), buffer_tensor("B", 48), buffer_tensor("C", 112),
               buffer_tensor("D", 64), buffer_tensor("E", 48), buffer_tensor("large", 256)},
              {AllocateStep{0}, AllocateStep{1}, AllocateStep{3}, AllocateStep{4}, FreeStep{0},
               FreeStep{1}, AllocateStep{2}, AllocateStep{5}});
  const auto workspace = planned(plan, device_limits(112));
  for (std::size_t i = 0; i < plan.temporaries.size(); ++i) {
    const std::uint64_t bytes = bytes_of(workspace.objects[workspace.places[i].object]);
    EXPECT_TRUE(bytes <= 112 || workspace.places[i].object == workspace.places[5].object)
        << i << ": " << bytes;
  }
  EXPECT_EQ(total_bytes(workspace), 112 + 112 + 256u);
}

TEST(Workspace, ImagesGrowUpToTheLimitsOfTheDevice) {
  const LaunchPlan plan = in_turn({texture_tensor("A", {12, 10}), texture_tensor("B", {10, 12})});
  const auto shared = planned(plan);
  ASSERT_EQ(shared.objects.size(), 1u);
  EXPECT_EQ(std::get<TextureStorage>(shared.objects[0]).extent, (Extent2D{12, 12}));
  EXPECT_EQ(planned(plan, device_limits(12 * 12 * 16 - 1)).objects.size(), 2u);
  hal::DeviceLimits narrow = device_limits();
  narrow.max_image_width = 11;
  EXPECT_EQ(planned(plan, narrow).objects.size(), 2u);
}

// Returns a plan with two textures, then a third one as large as both side by side.
LaunchPlan two_then_one(std::vector<Step> launches, std::vector<KernelSpec> kernels) {
  LaunchPlan plan = plan_of(
      {texture_tensor("A", {8, 8}), texture_tensor("B", {8, 8}), texture_tensor("both", {16, 8})},
      {AllocateStep{0}, AllocateStep{1}}, std::move(kernels));
  plan.steps.insert(plan.steps.end(), launches.begin(), launches.end());
  plan.steps.insert(plan.steps.end(), {FreeStep{0}, FreeStep{1}, AllocateStep{2}, FreeStep{2}});
  return plan;
}

// A texture lies beside another one only if all kernels that use it get its origin.
TEST(Workspace, TexturesLieSideBySideIfKernelsKnowTheirOrigins) {
  const auto places = [](TextureOrigin of_a, TextureOrigin of_b) {
    return planned(
        two_then_one({launch(0, {1, 1, 1}, {temporary(0)}), launch(0, {1, 1, 1}, {temporary(1)}),
                      launch(1, {1, 1, 1}, {temporary(0)}), launch(2, {1, 1, 1}, {temporary(1)})},
                     {kernel({{Access::Write, TextureOrigin::Constants}}),
                      kernel({{Access::Read, of_a}}), kernel({{Access::Read, of_b}})}));
  };
  const auto free = places(TextureOrigin::Constants, TextureOrigin::Constants);
  EXPECT_EQ(total_bytes(free), 16 * 8 * 16u);
  const auto one_fixed = places(TextureOrigin::Constants, TextureOrigin::Zero);
  EXPECT_EQ(total_bytes(one_fixed), 16 * 8 * 16u);
  EXPECT_EQ(one_fixed.places[1].origin, Offset2D{});
  EXPECT_NE(one_fixed.places[0].origin, Offset2D{});
  const auto both_fixed = places(TextureOrigin::Zero, TextureOrigin::Zero);
  EXPECT_EQ(total_bytes(both_fixed), (16 * 8 + 8 * 8) * 16u);
}

TEST(Workspace, WhatAKernelReadsAndWritesLiesInDifferentImages) {
  const auto bytes = [](Access second) {
    return total_bytes(planned(two_then_one(
        {launch(0, {1, 1, 1}, {temporary(0), temporary(1)})},
        {kernel({{Access::Read, TextureOrigin::Constants}, {second, TextureOrigin::Constants}})})));
  };
  EXPECT_EQ(bytes(Access::Read), 16 * 8 * 16u);
  EXPECT_EQ(bytes(Access::Write), (16 * 8 + 8 * 8) * 16u);
}

// An operator may assume a texture's origin to be (0, 0), so its textures are not packed.
TEST(Workspace, WhatAnOperatorUsesLiesAtTheCornersOfImages) {
  LaunchPlan plan = two_then_one(
      {BarrierStep{},
       CallStep{0, {{TensorRef::Kind::Temporary, 0}, {TensorRef::Kind::Temporary, 1}}}},
      {});
  for (const Access second : {Access::Read, Access::Write}) {
    plan.calls = {{.op = "mine::copy", .accesses = {Access::Read, second}}};
    const auto workspace = planned(plan);
    EXPECT_EQ(total_bytes(workspace), (16 * 8 + 8 * 8) * 16u);
    for (const Placement& place : workspace.places) EXPECT_EQ(place.origin, Offset2D{});
  }
}

TEST(Workspace, ExactTexturesHaveImagesOfTheirExtent) {
  std::vector<TensorSpec> tensors = {texture_tensor("A", {10, 10}), texture_tensor("B", {9, 10}),
                                     texture_tensor("C", {9, 9})};
  EXPECT_EQ(planned(in_turn(tensors)).objects.size(), 1u);
  std::get<TextureStorage>(tensors[1].storage).exact_extent = true;
  const auto plan = planned(in_turn(tensors));
  ASSERT_EQ(plan.objects.size(), 2u);
  const auto& exact = std::get<TextureStorage>(plan.objects[plan.places[1].object]);
  EXPECT_EQ(exact.extent, (Extent2D{9, 10}));
  EXPECT_TRUE(exact.exact_extent);
  EXPECT_FALSE(std::get<TextureStorage>(plan.objects[plan.places[0].object]).exact_extent);
}

// Memory allocated outside a loop is live during the whole loop, unlike memory allocated inside.
TEST(Workspace, LoopsUseTheSameMemoryEachTime) {
  const auto plan = planned(plan_of(
      {buffer_tensor("outer", 16), buffer_tensor("A", 16), buffer_tensor("B", 16),
       buffer_tensor("after", 32)},
      {AllocateStep{0}, loop(0, 100, {AllocateStep{1}, FreeStep{1}, AllocateStep{2}, FreeStep{2}}),
       FreeStep{0}, AllocateStep{3}}));
  EXPECT_EQ(total_bytes(plan), 32u);
  EXPECT_EQ(plan.places[1].offset, plan.places[2].offset);
  EXPECT_NE(plan.places[0].offset, plan.places[1].offset);
}

TEST(Workspace, TemporariesThatAreNeverAllocatedTakeNothing) {
  EXPECT_TRUE(
      planned(plan_of({buffer_tensor("A", 16), texture_tensor("B", {1, 1})}, {})).objects.empty());
}

TEST(Workspace, SizesBeyondAllReasonAreRefused) {
  const LaunchPlan plan = in_turn({buffer_tensor("A", std::uint64_t{1} << 62)});
  EXPECT_EQ(plan_workspace(plan, device_limits(), kQuickWorkspace).status().code(),
            StatusCode::LimitExceeded);
}

// Returns the bytes of a plan in which each temporary reuses an idle object by the pool's rule.
std::uint64_t bytes_of_the_pools_rule(const LaunchPlan& plan, std::uint64_t most) {
  struct Object {
    hal::ReuseExtent extent;
    bool in_use = true;
  };
  std::vector<Object> objects;
  std::vector<std::size_t> object_of(plan.temporaries.size());
  const auto texel = [&](const TensorSpec& tensor) {
    return std::holds_alternative<TextureStorage>(tensor.storage) ? 16U : 1U;
  };
  const std::uint64_t unit = texel(plan.temporaries[0]);
  for (const Step& step : plan.steps) {
    if (const auto* free = std::get_if<FreeStep>(&step))
      objects[object_of[free->temporary]].in_use = false;
    const auto* allocate = std::get_if<AllocateStep>(&step);
    if (allocate == nullptr) continue;
    const TensorStorage& storage = plan.temporaries[allocate->temporary].storage;
    const auto* texture = std::get_if<TextureStorage>(&storage);
    const auto wanted = texture != nullptr ? hal::ReuseExtent::of(texture->extent)
                                           : hal::ReuseExtent::of(bytes_of(storage));
    std::size_t best = objects.size();
    hal::ReuseCost least;
    for (std::size_t i = 0; i < objects.size(); ++i) {
      if (objects[i].in_use) continue;
      const auto cost = hal::reuse_cost(wanted, objects[i].extent);
      if (!cost || (best < objects.size() && *cost >= least)) continue;
      if (cost->added > 0 && hal::grown(wanted, objects[i].extent).area() * unit > most) continue;
      best = i;
      least = *cost;
    }
    if (best == objects.size()) objects.push_back({wanted});
    objects[best].extent = hal::grown(wanted, objects[best].extent);
    objects[best].in_use = true;
    object_of[allocate->temporary] = best;
  }
  std::uint64_t bytes = 0;
  for (const Object& object : objects) bytes += object.extent.area() * unit;
  return bytes;
}

LaunchPlan random_plan(std::uint32_t seed, bool textures) {
  std::minstd_rand random(seed + 1);
  LaunchPlan plan;
  std::vector<std::uint32_t> live;
  const auto count = static_cast<std::uint32_t>(2 + random() % 20);
  const auto step = [&] { return static_cast<std::uint32_t>(1 + random() % (1 + random() % 40)); };
  while (plan.temporaries.size() < count) {
    if (!live.empty() && random() % 2 == 0) {
      const std::size_t which = random() % live.size();
      plan.steps.emplace_back(FreeStep{live[which]});
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
      continue;
    }
    const auto number = static_cast<std::uint32_t>(plan.temporaries.size());
    plan.temporaries.push_back(textures ? texture_tensor("T", {step(), step()})
                                        : buffer_tensor("B", kAlignment * step() * step()));
    plan.steps.emplace_back(AllocateStep{number});
    live.push_back(number);
    if (!textures) continue;
    plan.kernels = {kernel({{Access::Read, TextureOrigin::Zero}})};
    plan.steps.push_back(launch(0, {1, 1, 1}, {temporary(number)}));
  }
  return plan;
}

TEST(Workspace, RandomPlansTakeNoMoreThanByThePoolsRule) {
  for (const bool textures : {false, true}) {
    std::uint64_t ours = 0, theirs = 0;
    for (std::uint32_t seed = 0; seed < 500; ++seed) {
      const LaunchPlan plan = random_plan(seed, textures);
      const std::uint64_t most = seed % 2 == 0 ? 1 << 30 : 40 * 40 * 16;
      const std::uint64_t bytes = total_bytes(planned(plan, device_limits(most)));
      const std::uint64_t bound = bytes_of_the_pools_rule(plan, most);
      EXPECT_LE(bytes, bound) << seed;
      EXPECT_GE(bytes, least_workspace_bytes(plan)) << seed;
      ours += bytes;
      theirs += bound;
    }
    RecordProperty(textures ? "texture_permille" : "buffer_permille",
                   static_cast<int>(ours * 1000 / theirs));
    EXPECT_LT(ours, theirs * (textures ? 97 : 90) / 100) << ours << " of " << theirs;
  }
}

}  // namespace
}  // namespace texloom::runtime
