// Tests lifetimes: every object may be released in any order, even while the device uses it.
#include "tests/conformance/fixture.h"

namespace texloom::hal::conformance {
namespace {

class Lifetimes : public On<> {
 protected:
  void SetUp() override {
    On<>::SetUp();
    if (IsSkipped()) return;
    use(open_another());
    x_ = make_buffer(bytes_of(std::vector<std::uint32_t>(8, 0)));
    advance_ = executable(kernels::advance());
    go_ = make_semaphore();
    done_ = make_semaphore();
  }
  std::shared_ptr<CommandBuffer> advance(int k) {
    auto commands = begin();
    const std::array<Binding, 1> bindings = {BufferBinding{x_}};
    const std::array constants = {Constant(k)};
    TL_EXPECT_OK(commands->dispatch(advance_, 0, {8, 1, 1}, bindings, constants));
    TL_EXPECT_OK(commands->finish());
    return commands;
  }
  // Submits commands that wait until `go_` is signaled.
  Status submit_held(const std::shared_ptr<CommandBuffer>& commands) {
    return queue().submit({.waits = {{go_, 1}}, .commands = {commands}, .signals = {{done_, 1}}});
  }
  Status let_go() {
    TL_RETURN_IF_ERROR(go_->signal(1));
    return done_->wait(1);
  }

  std::shared_ptr<Buffer> x_;
  std::shared_ptr<Executable> advance_;
  std::shared_ptr<Semaphore> go_, done_;
};
TL_ON_EVERY_DEVICE(Lifetimes);

TEST_P(Lifetimes, OfABufferThatIsSubmitted) {
  TL_ASSERT_OK(submit_held(advance(1)));
  const std::weak_ptr<Buffer> watched = x_;
  x_.reset();
  EXPECT_FALSE(watched.expired());
  TL_ASSERT_OK(let_go());
  TL_ASSERT_OK(queue().wait_idle());
  EXPECT_TRUE(watched.expired());
}

// The releasing thread must not wait for itself.
TEST_P(Lifetimes, OfTheDeviceThatAHostCallReleases) {
  auto device = open_another();
  const std::weak_ptr<Device> watched = device;
  const auto commands = device->create_command_buffer();
  TL_ASSERT_OK(commands->host_call([&] {
    device.reset();
    return Status();
  }));
  TL_ASSERT_OK(commands->finish());
  TL_ASSERT_OK(device->queue()->submit(
      {.waits = {{go_, 1}}, .commands = {commands}, .signals = {{done_, 1}}}));
  TL_ASSERT_OK(let_go());
  EXPECT_TRUE(watched.expired());
}

TEST_P(Lifetimes, OfAnExecutableThatIsSubmitted) {
  TL_ASSERT_OK(submit_held(advance(1)));
  advance_.reset();
  TL_ASSERT_OK(let_go());
  expect_values(x_, std::vector<std::uint32_t>(8, 1));
}

TEST_P(Lifetimes, OfACommandBufferThatIsSubmitted) {
  auto commands = advance(1);
  TL_ASSERT_OK(submit_held(commands));
  commands.reset();
  TL_ASSERT_OK(let_go());
  expect_values(x_, std::vector<std::uint32_t>(8, 1));
}

TEST_P(Lifetimes, OfTexturesThatAreSubmitted) {
  if (!info().features.images) GTEST_SKIP() << "no images";
  const Bytes data = random_bytes(256, 1);
  const auto target = make_buffer(256);
  const auto commands = begin();
  {
    const auto source = make_texture({4, 4}, TexelFormat::Rgba32UInt, data);
    const auto middle = make_texture({4, 4}, TexelFormat::Rgba32UInt);
    TL_ASSERT_OK(commands->copy_texture(source, {}, middle, {}, {4, 4}));
    TL_ASSERT_OK(commands->copy_texture_to_buffer(middle, target, {.extent = {4, 4}}));
  }
  TL_ASSERT_OK(run(commands));
  expect_content(target, data);
}

TEST_P(Lifetimes, OfASemaphoreThatIsWaitedFor) {
  const std::weak_ptr<Semaphore> watched = go_;
  TL_ASSERT_OK(submit_held(advance(1)));
  const auto kept = std::move(go_);
  TL_ASSERT_OK(kept->signal(1));
  TL_ASSERT_OK(done_->wait(1));
  EXPECT_FALSE(watched.expired());
}

TEST_P(Lifetimes, OfTheDeviceWhileItsQueueWorks) {
  TL_ASSERT_OK(submit_held(advance(1)));
  const auto queue = device().queue();
  use(nullptr);
  TL_ASSERT_OK(let_go());
  TL_ASSERT_OK(queue->wait_idle());
}

// Releasing the last handle waits for the readback, which writes the caller's memory.
TEST_P(Lifetimes, OfEverythingWhileTheDeviceWorks) {
  std::vector<std::uint32_t> result(8, 77);
  {
    const auto queue = device().queue();
    for (int i = 0; i < 20; ++i) TL_ASSERT_OK(queue->submit(advance(1)));
    const auto read = begin();
    TL_ASSERT_OK(read->readback(x_, 0, writable_bytes_of(result)));
    TL_ASSERT_OK(read->finish());
    TL_ASSERT_OK(queue->submit(read));
    use(nullptr);
    x_.reset();
    advance_.reset();
  }
  std::uint32_t expected = 0;
  for (int i = 0; i < 20; ++i) expected = expected * 3 + 1;
  expect_bytes(bytes_of(result), bytes_of(std::vector<std::uint32_t>(8, expected)));
}

// Work that still waits when the last handle is released does not run and reports an error.
TEST_P(Lifetimes, OfAQueueWithSubmissionsThatWait) {
  TL_ASSERT_OK(submit_held(advance(1)));
  use(nullptr);
  EXPECT_EQ(done_->wait(1).code(), StatusCode::Unavailable);
  TL_ASSERT_OK(go_->signal(1));
}

TEST_P(Lifetimes, OfObjectsAfterTheirDevice) {
  const auto commands = advance(1);
  auto queue = device().queue();
  use(nullptr);
  TL_ASSERT_OK(queue->submit(commands));
  TL_ASSERT_OK(queue->wait_idle());
  queue.reset();
  EXPECT_EQ(x_->bytes(), 32U);
  EXPECT_FALSE(x_->device_info().name.empty());
  EXPECT_EQ(advance_->entry_points()[0].name, "advance");
}

TEST_P(Lifetimes, OfBuffersMadeAndReleasedInTurns) {
  for (int i = 0; i < 100; ++i) {
    x_ = make_buffer(bytes_of(std::vector<std::uint32_t>(8, 0)));
    TL_ASSERT_OK(queue().submit(advance(i)));
  }
  TL_ASSERT_OK(queue().wait_idle());
  expect_values(x_, std::vector<std::uint32_t>(8, 99));
}

TEST_P(Lifetimes, OfCommandBuffersThatWereNeverSubmitted) {
  const std::weak_ptr<Buffer> watched = x_;
  auto commands = advance(1);
  x_.reset();
  EXPECT_FALSE(watched.expired());
  commands.reset();
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace texloom::hal::conformance
