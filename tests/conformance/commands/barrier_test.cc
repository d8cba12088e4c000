// Tests explicit barriers, single-use command buffers, and host calls between commands.
#include <atomic>

#include "tests/conformance/fixture.h"

namespace texloom::hal::conformance {
namespace {

class BarrierModes : public On<> {
 protected:
  void SetUp() override {
    On<>::SetUp();
    if (IsSkipped()) return;
    a_ = make_buffer(bytes_of(std::vector<std::uint32_t>(8, 1)));
    b_ = make_buffer(bytes_of(std::vector<std::uint32_t>(8, 2)));
    c_ = make_buffer(bytes_of(std::vector<std::uint32_t>(8, 3)));
  }
  std::shared_ptr<CommandBuffer> begin_with(Barriers barriers) {
    return device().create_command_buffer({.barriers = barriers});
  }
  static Status copy(CommandBuffer& commands, const std::shared_ptr<Buffer>& from,
                     const std::shared_ptr<Buffer>& to) {
    return commands.copy_buffer(from, 0, to, 0, 32);
  }
  void expect_all(const std::shared_ptr<Buffer>& buffer, std::uint32_t value) {
    expect_values(buffer, std::vector<std::uint32_t>(8, value));
  }

  std::shared_ptr<Buffer> a_, b_, c_;
};
TL_ON_EVERY_DEVICE(BarrierModes);

TEST_P(BarrierModes, ExplicitBarriersOrderCommands) {
  const auto commands = begin_with(Barriers::Explicit);
  TL_ASSERT_OK(copy(*commands, a_, b_));
  TL_ASSERT_OK(commands->barrier());
  TL_ASSERT_OK(copy(*commands, b_, c_));
  TL_ASSERT_OK(run(commands));
  expect_all(c_, 1);
}
TEST_P(BarrierModes, BarriersMayStandAnywhere) {
  for (const Barriers barriers : {Barriers::Automatic, Barriers::Explicit, Barriers::Checked}) {
    const auto commands = begin_with(barriers);
    TL_ASSERT_OK(commands->barrier());
    TL_ASSERT_OK(commands->barrier());
    TL_ASSERT_OK(copy(*commands, a_, b_));
    TL_ASSERT_OK(commands->barrier());
    TL_ASSERT_OK(run(commands));
    expect_all(b_, 1);
  }
}
TEST_P(BarrierModes, CheckedCommandsThatNeedNoneAreTaken) {
  const auto commands = begin_with(Barriers::Checked);
  TL_ASSERT_OK(copy(*commands, a_, b_));
  TL_ASSERT_OK(copy(*commands, a_, c_));
  TL_ASSERT_OK(run(commands));
  expect_all(b_, 1);
  expect_all(c_, 1);
}
TEST_P(BarrierModes, CheckedWithABarrierIsTaken) {
  const auto commands = begin_with(Barriers::Checked);
  TL_ASSERT_OK(copy(*commands, a_, b_));
  TL_ASSERT_OK(commands->barrier());
  TL_ASSERT_OK(copy(*commands, b_, c_));
  TL_ASSERT_OK(run(commands));
  expect_all(c_, 1);
}
// A barrier names the resources that it orders, so that a driver can limit the barrier to them.
TEST_P(BarrierModes, CheckedBarriersNameWhatTheyOrder) {
  const auto commands = begin_with(Barriers::Checked);
  TL_ASSERT_OK(copy(*commands, a_, b_));
  TL_ASSERT_OK(commands->barrier());
  TL_ASSERT_OK(copy(*commands, b_, c_));
  const auto& barrier = std::get<BarrierSegment>(*++commands->segments().begin());
  EXPECT_EQ(barrier.commands, CommandKinds::Transfers);
  EXPECT_EQ(barrier.memory, BarrierScope::Buffers);
  ASSERT_EQ(barrier.resources.size(), 2U);
  const auto place_of = [&](std::size_t i) {
    return std::get<BoundBuffer>(barrier.resources[i].memory);
  };
  EXPECT_EQ(place_of(0).buffer, a_.get());
  EXPECT_FALSE(barrier.resources[0].is_written);
  EXPECT_EQ(place_of(1).buffer, b_.get());
  EXPECT_EQ(place_of(1).bytes, 32U);
  EXPECT_TRUE(barrier.resources[1].is_written);
  TL_ASSERT_OK(run(commands));
  expect_all(c_, 1);
}
// A device that runs commands in order gets no barriers. Any other device gets one barrier per
// hazard, and the barrier names the memory.
TEST_P(BarrierModes, AutomaticBarriersNameWhatTheyOrder) {
  const auto texture = make_texture({4, 2}, TexelFormat::Rgba32Float);
  const auto large = make_buffer(256);
  const auto commands = begin();
  TL_ASSERT_OK(
      commands->copy_texture_to_buffer(texture, large, {.origin = {1, 0}, .extent = {2, 2}}));
  TL_ASSERT_OK(commands->copy_buffer(large, 0, b_, 0, 32));
  std::vector<BarrierSegment> barriers;
  for (const Segment& segment : commands->segments())
    if (const auto* barrier = std::get_if<BarrierSegment>(&segment)) barriers.push_back(*barrier);
  TL_ASSERT_OK(run(commands));
  if (info().features.in_order_commands) {
    EXPECT_TRUE(barriers.empty());
    return;
  }
  ASSERT_EQ(barriers.size(), 1U);
  EXPECT_EQ(barriers[0].memory, BarrierScope::All);
  ASSERT_EQ(barriers[0].resources.size(), 2U);
  const auto& place = std::get<BoundTexture>(barriers[0].resources[0].memory);
  EXPECT_EQ(place.texture, texture.get());
  EXPECT_EQ(place.origin, (Offset2D{1, 0}));
  EXPECT_EQ(barriers[0].resources[0].extent, (Extent2D{2, 2}));
  EXPECT_TRUE(barriers[0].resources[1].is_written);
}
TEST_P(BarrierModes, CheckedReadAfterAWriteIsAnError) {
  const auto commands = begin_with(Barriers::Checked);
  TL_ASSERT_OK(copy(*commands, a_, b_));
  TL_ASSERT_OK(copy(*commands, b_, c_));
  EXPECT_THAT(commands->finish(), fails_with(StatusCode::InvalidArgument, "barrier"));
}
TEST_P(BarrierModes, CheckedWriteAfterAReadIsAnError) {
  const auto commands = begin_with(Barriers::Checked);
  TL_ASSERT_OK(copy(*commands, a_, b_));
  TL_ASSERT_OK(commands->update(a_, 0, Bytes(4)));
  EXPECT_THAT(commands->finish(), fails_with(StatusCode::InvalidArgument, "barrier"));
}
TEST_P(BarrierModes, CheckedWriteAfterAWriteIsAnError) {
  const auto commands = begin_with(Barriers::Checked);
  TL_ASSERT_OK(commands->update(a_, 0, Bytes(8)));
  TL_ASSERT_OK(commands->update(a_, 4, Bytes(8)));
  EXPECT_THAT(commands->finish(), fails_with(StatusCode::InvalidArgument, "barrier"));
}
TEST_P(BarrierModes, CheckedErrorsNameBothCommands) {
  const auto commands = begin_with(Barriers::Checked);
  TL_ASSERT_OK(commands->update(a_, 0, Bytes(8)));
  TL_ASSERT_OK(copy(*commands, a_, b_));
  const Status status = commands->finish();
  EXPECT_THAT(status, fails_with(StatusCode::InvalidArgument, "update"));
  EXPECT_THAT(status, fails_with(StatusCode::InvalidArgument, "copy_buffer"));
}
TEST_P(BarrierModes, CheckedWritesSideBySideNeedNone) {
  const auto commands = begin_with(Barriers::Checked);
  TL_ASSERT_OK(commands->update(a_, 0, Bytes(8)));
  TL_ASSERT_OK(commands->update(a_, 8, Bytes(8)));
  TL_ASSERT_OK(run(commands));
}
TEST_P(BarrierModes, CheckedErrorsCannotBeSubmitted) {
  const auto commands = begin_with(Barriers::Checked);
  TL_ASSERT_OK(copy(*commands, a_, b_));
  TL_ASSERT_OK(copy(*commands, b_, c_));
  EXPECT_FALSE(commands->finish().ok());
  EXPECT_EQ(queue().submit(commands).code(), StatusCode::InvalidArgument);
  expect_all(c_, 3);
}

class OneShot : public On<> {};
TL_ON_EVERY_DEVICE(OneShot);

TEST_P(OneShot, CommandBuffersRunOnce) {
  const auto buffer = make_buffer(8);
  const auto commands = begin();
  TL_ASSERT_OK(commands->update(buffer, 0, Bytes(8, std::byte{1})));
  TL_ASSERT_OK(run(commands));
  EXPECT_THAT(queue().submit(commands),
              fails_with(StatusCode::InvalidArgument, "was submitted before"));
  expect_content(buffer, Bytes(8, std::byte{1}));
}
TEST_P(OneShot, CommandBuffersTwiceInASubmissionAreRefused) {
  const auto commands = begin();
  TL_ASSERT_OK(commands->finish());
  EXPECT_EQ(queue().submit({.commands = {commands, commands}}).code(), StatusCode::InvalidArgument);
  TL_ASSERT_OK(queue().submit(commands));
}
TEST_P(OneShot, CommandBuffersBesideOneThatWasSubmittedAreNotUsedUp) {
  const auto fresh = begin(), used = begin();
  TL_ASSERT_OK(fresh->finish());
  TL_ASSERT_OK(used->finish());
  TL_ASSERT_OK(queue().submit(used));
  EXPECT_THAT(queue().submit({.commands = {fresh, used}}),
              fails_with(StatusCode::InvalidArgument, "was submitted before"));
  TL_ASSERT_OK(queue().submit(fresh));
}
TEST_P(OneShot, CommandBuffersOfARefusedSubmissionAreNotUsedUp) {
  const auto commands = begin();
  TL_ASSERT_OK(commands->finish());
  EXPECT_FALSE(queue().submit({.commands = {commands, begin()}}).ok());
  TL_ASSERT_OK(queue().submit(commands));
}

class HostCalls : public On<> {
 protected:
  void SetUp() override {
    On<>::SetUp();
    if (!IsSkipped()) x_ = make_buffer(Bytes(8, std::byte{1}));
  }
  std::shared_ptr<Buffer> x_;
};
TL_ON_EVERY_DEVICE(HostCalls);

TEST_P(HostCalls, AreCalledOnce) {
  std::atomic<int> calls = 0;
  const auto commands = begin();
  TL_ASSERT_OK(commands->host_call([&] {
    ++calls;
    return Status();
  }));
  EXPECT_EQ(calls, 0);
  TL_ASSERT_OK(run(commands));
  EXPECT_EQ(calls, 1);
}
TEST_P(HostCalls, AreCalledForEachSubmission) {
  std::atomic<int> calls = 0;
  const auto commands = begin_reusable();
  TL_ASSERT_OK(commands->host_call([&] {
    ++calls;
    return Status();
  }));
  TL_ASSERT_OK(commands->finish());
  for (int i = 0; i < 5; ++i) TL_ASSERT_OK(queue().submit(commands));
  TL_ASSERT_OK(queue().wait_idle());
  EXPECT_EQ(calls, 5);
}
TEST_P(HostCalls, SeeWhatIsBeforeThemComplete) {
  Bytes read(8), seen;
  const auto commands = begin();
  TL_ASSERT_OK(commands->readback(x_, 0, read));
  TL_ASSERT_OK(commands->host_call([&] {
    seen = read;
    return Status();
  }));
  TL_ASSERT_OK(commands->update(x_, 0, Bytes(8, std::byte{2})));
  TL_ASSERT_OK(commands->readback(x_, 0, read));
  TL_ASSERT_OK(run(commands));
  expect_bytes(seen, Bytes(8, std::byte{1}), "in the call");
  expect_bytes(read, Bytes(8, std::byte{2}), "after it");
}
// A host call sees the results of all earlier submissions, even of long ones.
TEST_P(HostCalls, SeeEarlierSubmissionsComplete) {
  const auto out = make_buffer(64 * 4);
  std::vector<std::uint32_t> seen(64), read(64);
  const auto walk = begin();
  const std::array<Binding, 1> bindings = {BufferBinding{out}};
  const std::array constants = {Constant(std::uint32_t{1000000})};
  TL_ASSERT_OK(walk->dispatch(executable(kernels::walk()), 0, {64, 1, 1}, bindings, constants));
  TL_ASSERT_OK(walk->readback(out, 0, writable_bytes_of(read)));
  TL_ASSERT_OK(walk->finish());
  const auto look = begin();
  TL_ASSERT_OK(look->host_call([&] {
    seen = read;
    return Status();
  }));
  TL_ASSERT_OK(look->finish());
  TL_ASSERT_OK(queue().submit(walk));
  TL_ASSERT_OK(queue().submit(look));
  TL_ASSERT_OK(queue().wait_idle());
  EXPECT_EQ(seen, read);
}
TEST_P(HostCalls, AreCalledInOrder) {
  std::vector<int> order;
  const auto commands = begin();
  for (int i = 0; i < 4; ++i) {
    TL_ASSERT_OK(commands->host_call([&order, i] {
      order.push_back(i);
      return Status();
    }));
    TL_ASSERT_OK(commands->update(x_, 0, Bytes(4)));
  }
  TL_ASSERT_OK(run(commands));
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
}
TEST_P(HostCalls, MaySignalSemaphores) {
  const auto called = make_semaphore();
  const auto commands = begin();
  TL_ASSERT_OK(commands->host_call([called] { return called->signal(1); }));
  TL_ASSERT_OK(commands->finish());
  TL_ASSERT_OK(queue().submit(commands));
  TL_ASSERT_OK(called->wait(1));
}
TEST_P(HostCalls, ThatFailEndTheSubmission) {
  const auto done = make_semaphore();
  const auto commands = begin();
  TL_ASSERT_OK(commands->host_call([] { return invalid_argument("the call's own words"); }));
  TL_ASSERT_OK(commands->update(x_, 0, Bytes(8, std::byte{2})));
  TL_ASSERT_OK(commands->finish());
  TL_ASSERT_OK(queue().submit({.commands = {commands}, .signals = {{done, 1}}}));
  EXPECT_THAT(done->wait(1), fails_with(StatusCode::InvalidArgument, "the call's own words"));
  EXPECT_FALSE(queue().wait_idle().ok());
  expect_content(x_, Bytes(8, std::byte{1}));
}
// A host call sees its submission's table, and reads the memory through another queue.
TEST_P(HostCalls, ResolveSlotsByTheTable) {
  const auto other = *device().create_queue();
  Bytes seen(4);
  std::size_t entries = 0;
  const auto commands = device().create_command_buffer({.reusable = true});
  const std::array<BindingRef, 2> memory = {BindingSlot{.index = 1, .offset = 4},
                                            BufferBinding{x_, 4}};
  TL_ASSERT_OK(commands->host_call_with_table(memory, [&](const HostCallMemory& given) {
    entries = given.table.size();
    const auto& slot = std::get<BufferBinding>(given.named[0]);
    EXPECT_EQ(std::get<BufferBinding>(given.named[1]).buffer, x_);
    const auto reading = device().create_command_buffer();
    TL_RETURN_IF_ERROR(reading->readback(slot.buffer, slot.offset, seen));
    TL_RETURN_IF_ERROR(reading->finish());
    return other->run({.commands = {reading}});
  }));
  TL_ASSERT_OK(commands->finish());
  const auto y = make_buffer(16);
  for (const std::byte value : {std::byte{3}, std::byte{4}}) {
    const auto update = begin();
    TL_ASSERT_OK(update->update(y, 8, Bytes(4, value)));
    TL_ASSERT_OK(update->finish());
    TL_ASSERT_OK(
        queue().run({.commands = {update, {commands, {BufferBinding{x_}, BufferBinding{y, 4}}}}}));
    EXPECT_EQ(entries, 2U);
    expect_bytes(seen, Bytes(4, value), "of slot 1 in the call");
  }
  EXPECT_THAT(queue().submit({.commands = {{commands, {BufferBinding{x_}}}}}),
              fails_with(StatusCode::InvalidArgument, "slot 1 is out of range: the table has 1"));
  EXPECT_THAT(begin()->host_call_with_table(std::array<BindingRef, 1>{BufferBinding{}},
                                            [](const HostCallMemory&) { return Status(); }),
              fails_with(StatusCode::InvalidArgument, "host_call: the memory is null"));
}
// Code that runs as part of a submission must not wait for its own queue: the wait would never end.
TEST_P(HostCalls, NativeCommandsMayNotWait) {
  if (!device().info().features.native_commands) GTEST_SKIP() << "takes no native commands";
  const auto commands = begin();
  Status waited;
  TL_ASSERT_OK(commands->native({}, [&](const NativeCommands&) {
    waited = queue().wait_idle();
    return Status();
  }));
  TL_ASSERT_OK(run(commands));
  if (computes()) {
    EXPECT_THAT(waited, fails_with(StatusCode::InvalidArgument, "a native command waits"));
  }
}
TEST_P(HostCalls, OfNothingAreRefused) {
  EXPECT_THAT(begin()->host_call({}),
              fails_with(StatusCode::InvalidArgument, "the function is empty"));
}

}  // namespace
}  // namespace texloom::hal::conformance
