// Tests how the driver measures commands: by counter samples within a command buffer, or by the
// times of separate command buffers. The conformance suite tests the spans themselves.
#import <Metal/Metal.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/drivers/metal/api/native.h"
#include "runtime/hal/profile.h"
#include "runtime/hal/transfer.h"
#include "tests/runtime/drivers/metal/device_test.h"
#include "tests/runtime/drivers/metal/message_counts.h"
#include "tests/runtime/status_matchers.h"
#include "tests/softmetal/api/classes/checks/faults.h"
#include "tests/softmetal/api/classes/commands/counters.h"

namespace texloom::hal::metal {
namespace {

constexpr std::uint64_t kBytes = 32;
// The number of pairs of samples in a sample buffer of 32 KiB.
constexpr int kPairs = 2048;
// The step of the software clock: whole ticks of each device, and short enough that no span begins
// before the commit.
constexpr std::chrono::nanoseconds kStep(1000);

class Profiled : public DeviceTest, public ::testing::WithParamInterface<std::size_t> {
 protected:
  void SetUp() override {
    open({}, GetParam(), {.profile = profile});
    auto made = device->create_executable(add_desc());
    TL_ASSERT_OK(made.status());
    executable = *made;
    for (std::shared_ptr<Buffer>* each : {&a, &b}) *each = make(kBytes);
    const std::vector<int> values(8, 1);
    TL_ASSERT_OK(write_buffer(*device, a, 0, std::as_bytes(std::span(values))));
    profile->clear();
  }
  void TearDown() override { softmetal::step_clock(0); }
  bool samples_encoders() const { return GetParam() == 0; }
  // Allows 1 ns of error, as both ends of a span are rounded to nanoseconds.
  static void expect_steps(ProfileClock::duration time, int steps) {
    EXPECT_LE(std::chrono::abs(time - steps * kStep), std::chrono::nanoseconds(1));
  }

  Status add(CommandBuffer& commands, std::uint32_t threads = 8) {
    const std::array<Binding, 2> bindings = {BufferBinding{a}, BufferBinding{b}};
    return commands.dispatch(executable, 0, {threads, 1, 1}, bindings, std::array{Constant(1)});
  }
  std::shared_ptr<CommandBuffer> adds(int count) {
    const auto commands = device->create_command_buffer({.reusable = true});
    for (int i = 0; i < count; ++i) {
      if (i > 0) TL_EXPECT_OK(commands->barrier());
      TL_EXPECT_OK(add(*commands));
    }
    TL_EXPECT_OK(commands->finish());
    return commands;
  }
  std::vector<ProfileSpan> spans() const {
    ProfileSnapshot now = profile->snapshot();
    std::erase_if(now.spans, [&](const ProfileSpan& span) {
      return now.tracks[span.track].kind != ProfileTrack::Kind::DeviceQueue;
    });
    return now.spans;
  }

  std::shared_ptr<Profile> profile = std::make_shared<Profile>();
  std::shared_ptr<Executable> executable;
  std::shared_ptr<Buffer> a, b;
};

TEST_P(Profiled, ABatchIsOneCommandBuffer) {
  const auto commands = adds(3);
  TL_ASSERT_OK(device->queue()->run({.commands = {commands}}));
  profile->clear();
  const MessageCounts counts;
  TL_ASSERT_OK(device->queue()->run({.commands = {commands}}));
  EXPECT_EQ(counts.of("commit"), 1);
  EXPECT_EQ(counts.of("computeCommandEncoderWithDescriptor:"), samples_encoders() ? 3 : 0);
  EXPECT_EQ(counts.of("computeCommandEncoderWithDispatchType:"), samples_encoders() ? 0 : 1);
  EXPECT_EQ(counts.of("sampleCountersInBuffer:atSampleIndex:withBarrier:"),
            samples_encoders() ? 0 : 6);
  EXPECT_EQ(counts.of("newCounterSampleBufferWithDescriptor:error:"), 0) << "they are reused";
  const auto found = spans();
  ASSERT_EQ(found.size(), 3U);
  for (std::size_t i = 1; i < found.size(); ++i) {
    EXPECT_LE(found[i - 1].end, found[i].begin) << "a barrier is between them";
    EXPECT_EQ(found[i].begin - found[i].queue_wait, found[0].begin - found[0].queue_wait)
        << "all were committed at once";
  }
}

// The software clock advances by one step at each sample.
TEST_P(Profiled, SpansTakeTheTimeThatPasses) {
  const auto commands = adds(2);
  softmetal::step_clock(kStep.count());
  TL_ASSERT_OK(device->queue()->run({.commands = {commands}}));
  const auto found = spans();
  ASSERT_EQ(found.size(), 2U);
  expect_steps(found[0].end - found[0].begin, 1);
  expect_steps(found[1].begin - found[0].end, 1);
  expect_steps(found[1].end - found[1].begin, 1);
}

// A copy of rows that blits refuse is encoded by kernels and blits in turn.
TEST_P(Profiled, ACommandMayHaveSeveralEncoders) {
  auto texture = device->create_texture({.extent = {5, 3}, .format = TexelFormat::Rgba8UInt});
  TL_ASSERT_OK(texture.status());
  const auto buffer = make(4096);
  const auto commands = device->create_command_buffer();
  TL_ASSERT_OK(commands->fill(buffer, 0, 4096, std::array{std::byte{1}}));
  TL_ASSERT_OK(commands->barrier());
  TL_ASSERT_OK(commands->copy_buffer_to_texture(
      buffer, *texture, {.extent = {5, 3}, .buffer_offset = 1, .row_pitch = 23}));
  TL_ASSERT_OK(commands->finish());
  const MessageCounts counts;
  TL_ASSERT_OK(device->queue()->run({.commands = {commands}}));
  EXPECT_EQ(counts.of("commit"), 1);
  EXPECT_EQ(counts.of("endEncoding"), 3);
  const auto found = spans();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].name, "copy_buffer_to_texture");
  EXPECT_LT(found[1].begin, found[1].end);
  EXPECT_LE(found[0].end, found[1].begin);
}

// The copy is encoded as a kernel and a blit. If encoders take samples, both take one at their end.
TEST_P(Profiled, TheFirstEncoderBeginsACommand) {
  constexpr Extent2D kExtent{64, 64};
  constexpr std::uint32_t kPitch = 4 * kExtent.width + 1;  // which blits refuse
  auto texture = device->create_texture({.extent = kExtent, .format = TexelFormat::Rgba8UInt});
  TL_ASSERT_OK(texture.status());
  const auto buffer = make(std::uint64_t{kPitch} * kExtent.height);
  const auto commands = device->create_command_buffer();
  TL_ASSERT_OK(
      commands->copy_buffer_to_texture(buffer, *texture, {.extent = kExtent, .row_pitch = kPitch}));
  TL_ASSERT_OK(commands->finish());
  softmetal::step_clock(kStep.count());
  const MessageCounts counts;
  TL_ASSERT_OK(device->queue()->run({.commands = {commands}}));
  EXPECT_EQ(counts.of("endEncoding"), 2);
  EXPECT_EQ(counts.of("sampleCountersInBuffer:atSampleIndex:withBarrier:"),
            samples_encoders() ? 0 : 2);
  const auto found = spans();
  ASSERT_EQ(found.size(), 1U);
  expect_steps(found[0].end - found[0].begin, samples_encoders() ? 2 : 1);
}

TEST_P(Profiled, ABatchMayNeedSeveralSampleBuffers) {
  const auto commands = device->create_command_buffer({.reusable = true});
  for (int i = 0; i < kPairs + 1; ++i)
    TL_ASSERT_OK(commands->fill(a, 0, 4, std::array{std::byte{1}}));
  TL_ASSERT_OK(commands->finish());
  TL_ASSERT_OK(device->queue()->run({.commands = {commands}}));
  EXPECT_EQ(spans().size(), static_cast<std::size_t>(kPairs + 1));
  profile->clear();
  const MessageCounts counts;
  TL_ASSERT_OK(device->queue()->run({.commands = {commands}}));
  EXPECT_EQ(counts.of("commit"), 1);
  EXPECT_EQ(counts.of("newCounterSampleBufferWithDescriptor:error:"), 0);
  const auto found = spans();
  EXPECT_EQ(found.size(), static_cast<std::size_t>(kPairs + 1));
  EXPECT_TRUE(
      std::is_sorted(found.begin(), found.end(),
                     [](const ProfileSpan& x, const ProfileSpan& y) { return x.begin < y.begin; }));
}

// Encoders of native commands take no samples, so a separate command buffer measures them.
TEST_P(Profiled, NativeCommandsAreAlone) {
  const auto commands = device->create_command_buffer();
  TL_ASSERT_OK(add(*commands));
  const std::array accesses = {
      NativeAccess{.memory = BufferBinding{b}, .access = Access::Write, .bytes = kBytes}};
  TL_ASSERT_OK(commands->native(accesses, [](const NativeCommands& native) -> Status {
    auto* const borrowed = (id<MTLCommandBuffer>)native_handles(native)->leases->command_buffer();
    id<MTLBlitCommandEncoder> encoder = [borrowed blitCommandEncoder];
    id<MTLBuffer> memory = (id<MTLBuffer>)native_memory(std::get<BoundBuffer>(native.memory[0]));
    [encoder fillBuffer:memory range:NSMakeRange(0, kBytes) value:1];
    [encoder endEncoding];
    return {};
  }));
  TL_ASSERT_OK(add(*commands));
  TL_ASSERT_OK(commands->finish());
  const MessageCounts counts;
  TL_ASSERT_OK(device->queue()->run({.commands = {commands}}));
  EXPECT_EQ(counts.of("commit"), 3);
  std::vector<std::string> names;
  for (const ProfileSpan& span : spans()) {
    names.push_back(span.name);
    EXPECT_LT(span.begin, span.end) << span.name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"add", "native", "add"}));
}

// If a device cannot resolve samples, although it claims to, command buffers measure instead.
TEST_P(Profiled, CommandBuffersMeasureWhereSamplesAreMissing) {
  const auto commands = adds(2);
  const auto run = [&] { return device->queue()->run({.commands = {commands}}); };
  std::uint64_t call = 0;
  do {
    profile->clear();
    softmetal::fail_call(++call);
    static_cast<void>(run());
    ASSERT_LT(call, 100U);
  } while (softmetal::failed_call() != "resolveCounterRange:");
  softmetal::fail_call(0);
  ASSERT_EQ(spans().size(), 1U) << "the commands have one time together";
  EXPECT_EQ(spans()[0].name, "2 commands, not sampled");
  EXPECT_EQ(spans()[0].bytes, 4 * kBytes) << "two buffers of each";
  profile->clear();
  const MessageCounts counts;
  TL_ASSERT_OK(run());
  EXPECT_EQ(counts.beginning_with("sampleCounters"), 0);
  EXPECT_EQ(counts.beginning_with("resolveCounterRange"), 0);
  EXPECT_EQ(counts.of("commit"), 3) << "one for each command, and one that signals";
  EXPECT_EQ(spans().size(), 2U);
}

// No sample of an earlier batch is taken, although a reused sample buffer still contains it.
TEST_P(Profiled, SamplesOfEarlierBatchesAreNotTaken) {
  const auto commands = adds(2);
  TL_ASSERT_OK(device->queue()->run({.commands = {commands}}));
  EXPECT_EQ(spans().size(), 2U);
  profile->clear();
  softmetal::drop_samples(true);
  const Status status = device->queue()->run({.commands = {commands}});
  softmetal::drop_samples(false);
  TL_ASSERT_OK(status);
  ASSERT_EQ(spans().size(), 1U);
  EXPECT_EQ(spans()[0].name, "2 commands, not sampled");
}

INSTANTIATE_TEST_SUITE_P(Devices, Profiled, ::testing::Values(0, 1));

}  // namespace
}  // namespace texloom::hal::metal
