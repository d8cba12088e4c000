// Tests the transition that is chosen between each two consecutive invocations of a plan.
#include "runtime/commit/invocations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/commit/commit_counter.h"
#include "tests/runtime/plan/plan_fixture.h"

namespace texloom::runtime {
namespace {

using hal::Access;
using testing::ElementsAre;

constexpr std::uint64_t kBytes = 64;

TensorRef tensor(std::uint32_t number) { return {TensorRef::Kind::Temporary, number}; }

// Returns a chain: operator k reads tensor k and writes tensor k + 1. Operators with an encoding
// are calls; operators without one are kernels.
LaunchPlan chain(const std::vector<std::optional<Encoding>>& operators) {
  LaunchPlan plan;
  plan.modules.resize(1);
  for (std::size_t k = 0; k <= operators.size(); ++k)
    plan.temporaries.push_back(buffer_tensor(fmt::format("t{}", k), kBytes));
  for (std::uint32_t k = 0; k < operators.size(); ++k) {
    if (operators[k]) {
      plan.steps.emplace_back(
          CallStep{static_cast<std::uint32_t>(plan.calls.size()), {tensor(k), tensor(k + 1)}});
      plan.calls.push_back({.op = fmt::format("op{}", k),
                            .accesses = {Access::Read, Access::Write},
                            .encoding = *operators[k]});
      continue;
    }
    plan.steps.push_back(launch(static_cast<std::uint32_t>(plan.kernels.size()), {1, 1, 1},
                                {temporary(k), temporary(k + 1)}));
    plan.kernels.push_back(
        {.entry = {.name = fmt::format("kernel{}", k),
                   .params = {hal::BufferParam{.name = "x", .min_bytes = kBytes},
                              hal::BufferParam{
                                  .name = "y", .access = Access::Write, .min_bytes = kBytes}}}});
  }
  return plan;
}

std::vector<std::string> transitions(const std::vector<Invocation>& list) {
  std::vector<std::string> names;
  for (const Invocation& each : list) names.emplace_back(to_string(each.transition));
  return names;
}

std::vector<std::string> transitions(const std::vector<std::optional<Encoding>>& operators,
                                     const CommitPolicy& policy = CommitPolicy::off()) {
  return transitions(list_invocations(chain(operators), policy));
}

constexpr std::optional<Encoding> kKernel;
constexpr std::optional<Encoding> kPortable = Encoding::Kernels;
constexpr std::optional<Encoding> kNative = Encoding::Native;
constexpr std::optional<Encoding> kHost = Encoding::Host;

// Only the host operator waits; a library's network and the two custom kernels after it do not.
TEST(Invocations, ALibraryTwoCustomKernelsAndTheHost) {
  const std::vector<std::optional<Encoding>> operators = {kNative, kPortable, kPortable, kHost};
  const auto list = list_invocations(chain(operators), CommitPolicy::off());
  EXPECT_THAT(transitions(list), ElementsAre("start", "new encoder", "barrier", "wait"));
  EXPECT_EQ(list[1].reason, "the one before it encoded itself");
  EXPECT_EQ(list[2].reason, "uses \"t2\", which op1 writes");
  EXPECT_EQ(list[3].reason, "runs on the host");
  EXPECT_THAT(transitions(operators, {.waits = Waits::AfterEach}),
              ElementsAre("start", "wait", "wait", "wait"));
}

// Consecutive kernels are submitted together; each call of an operator is separate.
TEST(Invocations, WaitsAroundCalls) {
  const std::vector<std::optional<Encoding>> operators = {kKernel, kKernel,   kPortable,
                                                          kKernel, kPortable, kPortable};
  EXPECT_THAT(transitions(operators, {.first_launches = 1, .waits = Waits::AroundCalls}),
              ElementsAre("start", "barrier", "wait", "wait", "wait", "wait"));
}

// Six invocations have two host operators in the middle.
TEST(Invocations, TheHostInTheMiddle) {
  EXPECT_THAT(transitions({kKernel, kPortable, kHost, kHost, kKernel, kNative}),
              ElementsAre("start", "barrier", "wait", "same encoder", "start", "new encoder"));
}

TEST(Invocations, NativeOperatorsEncodeThemselves) {
  EXPECT_THAT(transitions({kNative, kNative, kKernel}),
              ElementsAre("start", "new encoder", "new encoder"));
}

TEST(Invocations, AnotherDevice) {
  const std::vector<std::string> devices = {"opencl:1"};
  const auto list =
      list_invocations(chain({kKernel, kPortable, kKernel}), CommitPolicy::off(), devices);
  EXPECT_THAT(transitions(list), ElementsAre("start", "event", "event"));
  EXPECT_EQ(list[1].reason, "runs on another device, opencl:1");
  EXPECT_EQ(list[2].reason, "runs on another device, that of the program");
}

// Two kernels that share only a tensor they read need no barrier.
TEST(Invocations, WhatDependsOnNothingNeedsNothing) {
  LaunchPlan plan = chain({kKernel, kKernel, kKernel});
  std::get<LaunchStep>(plan.steps[1]).operands[0] = temporary(0);
  const auto list = list_invocations(plan, CommitPolicy::off());
  EXPECT_THAT(transitions(list), ElementsAre("start", "same encoder", "barrier"));
}

// A write after a read, and two temporaries at one offset of an object, need a barrier.
TEST(Invocations, MemoryThatIsUsedAgain) {
  LaunchPlan plan = chain({kKernel, kKernel});
  std::get<LaunchStep>(plan.steps[1]).operands = {temporary(2), temporary(0)};
  auto list = list_invocations(plan, CommitPolicy::off());
  EXPECT_EQ(list[1].reason, "writes \"t0\", which kernel0 reads");
  std::get<LaunchStep>(plan.steps[1]).operands = {temporary(0), temporary(2)};
  plan.workspace = WorkspacePlan{.objects = {BufferStorage{2 * kBytes}},
                                 .places = {{.offset = 0}, {.offset = kBytes}, {.offset = kBytes}}};
  list = list_invocations(plan, CommitPolicy::off());
  EXPECT_EQ(list[1].reason, "\"t2\" is where kernel0 has \"t1\"");
}

TEST(Invocations, LaunchesThatEndASubmission) {
  const std::vector<std::optional<Encoding>> five(5, kKernel);
  EXPECT_THAT(transitions(five, {.launches = 2, .submissions_ahead = 0}),
              ElementsAre("start", "barrier", "commit", "barrier", "commit"));
  EXPECT_THAT(transitions(five, {.launches = 2, .first_launches = 1, .submissions_ahead = 0}),
              ElementsAre("start", "commit", "barrier", "commit", "barrier"));
  EXPECT_THAT(transitions(five, {.launches = 0, .bytes = 4 * kBytes, .submissions_ahead = 0}),
              ElementsAre("start", "barrier", "commit", "barrier", "commit"));
  EXPECT_THAT(transitions(five), ElementsAre("start", "barrier", "barrier", "barrier", "barrier"));
  const auto list = list_invocations(chain(five), {.launches = 2, .first_launches = 1});
  EXPECT_EQ(list[1].reason, "the first submission ends after 1 launches");
  EXPECT_EQ(list[3].reason, "2 launches are recorded");
}

TEST(Invocations, ALoopIsOneInvocation) {
  LaunchPlan plan = chain({kKernel, kKernel});
  plan.steps[0] = loop(0, 10, {plan.steps[0]});
  const auto list = list_invocations(plan, {.launches = 10});
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].name, "loop of kernel0");
  EXPECT_EQ(list[0].launches, 10);
  EXPECT_THAT(transitions(list), ElementsAre("start", "commit"));
}

TEST(CommitCounter, BytesAreCountedAsBytes) {
  CommitCounter counter({.launches = 0, .bytes = 1000});
  EXPECT_FALSE(counter.full());
  counter.add(1, 999);
  EXPECT_FALSE(counter.full());
  counter.add(1, 1);
  EXPECT_EQ(counter.full(), CommitLimit::Bytes);
  counter.commit();
  EXPECT_FALSE(counter.full());
  EXPECT_EQ(counter.submissions(), 1U);
}

}  // namespace
}  // namespace texloom::runtime
