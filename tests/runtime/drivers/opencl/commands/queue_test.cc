// Tests the queue: order, submission, threads, lifetimes.
#include <atomic>
#include <thread>

#include "tests/runtime/drivers/opencl/commands/queue_fixture.h"

namespace texloom::hal::opencl {
namespace {

// The steps do not commute, so the result shows their order.
TEST_F(QueueTest, CommandsAndSubmissionsRunInOrder) {
  const auto executable = make_executable(kAdvanceSource, advance_entry());
  const auto buffer = make_buffer(Bytes(16 * sizeof(int), std::byte{0}));
  std::uint32_t expected = 0;
  for (int k = 1; k <= 40; ++k) {
    TL_ASSERT_OK(device_->queue()->submit(advance_commands(executable, buffer, k)));
    expected = expected * 3 + static_cast<std::uint32_t>(k);
  }
  EXPECT_EQ(values_of<std::uint32_t>(buffer), std::vector<std::uint32_t>(16, expected));
}

TEST_F(QueueTest, FinishedCommandBuffersAreReusable) {
  const auto executable = make_executable(kAdvanceSource, advance_entry());
  const auto buffer = make_buffer(Bytes(sizeof(int), std::byte{0}));
  const auto commands = advance_commands(executable, buffer, 1, {.reusable = true});
  for (int i = 0; i < 3; ++i) TL_ASSERT_OK(device_->queue()->submit(commands));
  EXPECT_EQ(values_of<int>(buffer), std::vector<int>{1 + 3 + 9});
}

TEST_F(QueueTest, UnfinishedAndNullAreRefused) {
  const auto commands = device_->create_command_buffer();
  EXPECT_THAT(device_->queue()->submit(nullptr), fails_with(StatusCode::InvalidArgument, "null"));
  EXPECT_THAT(device_->queue()->submit(commands),
              fails_with(StatusCode::InvalidArgument, "not finished"));
  TL_ASSERT_OK(commands->finish());
  TL_ASSERT_OK(device_->queue()->submit(commands));
  EXPECT_THAT(commands->finish(), fails_with(StatusCode::InvalidArgument, "finished"));
  EXPECT_THAT(commands->update(make_buffer(4), 0, Bytes(4)),
              fails_with(StatusCode::InvalidArgument, "update: the command buffer is finished"));
}

// Two threads submit to one queue through one executable; each updates its own buffer.
TEST_F(QueueTest, ThreadsShareAQueueAndAnExecutable) {
  const auto executable =
      make_executable("__kernel void add(__global int* x, int k) { x[get_global_id(0)] += k; }",
                      {.name = "add",
                       .params = {BufferParam{.name = "x", .access = Access::ReadWrite},
                                  ConstantParam{.name = "k"}}});
  constexpr int kThreads = 4, kRounds = 50;
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (int t = 0; t < kThreads; ++t)
    buffers.push_back(make_buffer(Bytes(64 * sizeof(int), std::byte{0})));
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < kRounds; ++round) {
        const auto commands = advance_commands(executable, buffers[t], t + 1);
        if (!device_->queue()->submit(commands).ok()) ++failures;
        if (round % 10 == 0 && !device_->queue()->wait_idle().ok()) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  for (int t = 0; t < kThreads; ++t)
    EXPECT_EQ(values_of<int>(buffers[t]), std::vector<int>(64, (t + 1) * kRounds));
}

TEST_F(QueueTest, EverythingMayBeReleasedWhileTheDeviceWorks) {
  std::vector<int> result(1 << 12, -1);
  {
    auto executable = make_executable(kAdvanceSource, advance_entry());
    auto buffer = make_buffer(Bytes(result.size() * sizeof(int), std::byte{0}));
    const auto queue = device_->queue();
    for (int i = 0; i < 20; ++i)
      TL_ASSERT_OK(queue->submit(advance_commands(executable, buffer, 1)));
    const auto read = device_->create_command_buffer();
    TL_ASSERT_OK(read->readback(buffer, 0, writable_bytes_of(result)));
    TL_ASSERT_OK(read->finish());
    TL_ASSERT_OK(queue->submit(read));
    driver_.reset();
    device_.reset();
  }
  // Releasing the last handle of the queue waited for the readback.
  std::uint32_t expected = 0;
  for (int i = 0; i < 20; ++i) expected = expected * 3 + 1;
  EXPECT_EQ(result, std::vector<int>(1 << 12, static_cast<int>(expected)));
}

TEST_F(QueueTest, ObjectsOutliveTheirDeviceInAnyOrder) {
  auto executable = make_executable(kAdvanceSource, advance_entry());
  auto buffer = make_buffer(64);
  auto texture = make_texture({4, 4}, TexelFormat::Rgba8Int);
  auto commands = advance_commands(executable, buffer, 1);
  auto queue = device_->queue();
  driver_.reset();
  device_.reset();
  executable.reset();
  TL_ASSERT_OK(queue->submit(commands));
  commands.reset();
  TL_ASSERT_OK(queue->wait_idle());
  queue.reset();
  EXPECT_EQ(buffer->bytes(), 64u);
  buffer.reset();
  EXPECT_FALSE(texture->device_info().name.empty());
}

// A host call sees earlier writes, and later commands see the host call's writes.
TEST_F(QueueTest, HostCallsStandInOrder) {
  const auto executable = make_executable(kAdvanceSource, advance_entry());
  const auto buffer = make_buffer(Bytes(sizeof(int), std::byte{0}));
  std::vector<int> first(1, -1), second(1, -1);
  const auto commands = device_->create_command_buffer();
  const auto advance = [&](int k) {
    return commands->dispatch(executable, 0, {1, 1, 1}, {{BufferBinding{buffer}}}, {{Constant(k)}});
  };
  std::vector<int> seen;
  std::vector<int> lent(1, 0);
  TL_ASSERT_OK(advance(5));
  TL_ASSERT_OK(commands->readback(buffer, 0, writable_bytes_of(first)));
  TL_ASSERT_OK(commands->host_call([&] {
    seen.push_back(first[0]);
    lent[0] = 100;
    return Status();
  }));
  TL_ASSERT_OK(commands->update(buffer, 0, bytes_of(lent), HostMemory::Borrowed));
  TL_ASSERT_OK(advance(1));
  TL_ASSERT_OK(commands->readback(buffer, 0, writable_bytes_of(second)));
  TL_ASSERT_OK(commands->host_call([&] {
    seen.push_back(second[0]);
    return Status();
  }));
  TL_ASSERT_OK(run(commands));
  EXPECT_EQ(seen, (std::vector<int>{5, 301}));
}

TEST_F(QueueTest, AHostCallThatFailsEndsItsSubmission) {
  const auto executable = make_executable(kAdvanceSource, advance_entry());
  const auto buffer = make_buffer(Bytes(sizeof(int), std::byte{0}));
  const auto commands = device_->create_command_buffer();
  TL_ASSERT_OK(
      commands->host_call([] { return make_error(StatusCode::NotFound, "no such file"); }));
  TL_ASSERT_OK(
      commands->dispatch(executable, 0, {1, 1, 1}, {{BufferBinding{buffer}}}, {{Constant(5)}}));
  EXPECT_THAT(run(commands), fails_with(StatusCode::NotFound, "a host call: no such file"));
  EXPECT_EQ(values_of<int>(buffer), std::vector<int>{0});
}

// One recording gets different memory at each submission; the offsets of table and slot are added.
TEST_F(QueueTest, TablesBindAtSubmission) {
  const auto executable = make_executable(kAdvanceSource, advance_entry());
  const std::uint64_t step = device_->info().limits.buffer_offset_alignment;
  const auto buffer = make_buffer(Bytes(4 * step, std::byte{0}));
  const auto commands = device_->create_command_buffer({.reusable = true});
  const std::array<BindingRef, 1> refs = {BindingSlot{1, step}};
  TL_ASSERT_OK(commands->dispatch_with_table(executable, 0, {1, 1, 1}, refs, {{Constant(7)}}));
  TL_ASSERT_OK(commands->finish());
  for (const std::uint64_t k : {0u, 2u}) {
    Submission submission;
    submission.commands.emplace_back(
        commands, std::vector<Binding>{TextureBinding{}, BufferBinding{buffer, k * step}});
    TL_ASSERT_OK(device_->queue()->submit(std::move(submission)));
  }
  std::vector<int> expected(step, 0);
  expected[step / sizeof(int)] = expected[3 * step / sizeof(int)] = 7;
  EXPECT_EQ(values_of<int>(buffer), expected);
}

}  // namespace
}  // namespace texloom::hal::opencl
