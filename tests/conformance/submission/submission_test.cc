// Tests submissions: waits and signals, failure, misuse, threads.
#include <atomic>
#include <thread>

#include "tests/conformance/fixture.h"

namespace texloom::hal::conformance {
namespace {

using std::chrono::milliseconds;

class Submissions : public On<> {
 protected:
  void SetUp() override {
    On<>::SetUp();
    if (IsSkipped()) return;
    x_ = make_buffer(bytes_of(std::vector<std::uint32_t>(8, 0)));
    advance_ = executable(kernels::advance());
  }
  // x = 3 x + k.
  std::shared_ptr<CommandBuffer> advance(int k) { return advance(x_, k); }
  std::shared_ptr<CommandBuffer> advance(const std::shared_ptr<Buffer>& x, int k) {
    auto commands = begin();
    const std::array<Binding, 1> bindings = {BufferBinding{x}};
    const std::array constants = {Constant(k)};
    TL_EXPECT_OK(commands->dispatch(advance_, 0, {8, 1, 1}, bindings, constants));
    TL_EXPECT_OK(commands->finish());
    return commands;
  }
  void expect_x(std::uint32_t value) { expect_values(x_, std::vector<std::uint32_t>(8, value)); }
  std::shared_ptr<Semaphore> semaphore(std::uint64_t value = 0) { return make_semaphore(value); }
  static Status lost() { return make_error(StatusCode::DeviceError, "the tests' own error"); }

  std::shared_ptr<Buffer> x_;
  std::shared_ptr<Executable> advance_;
};
TL_ON_EVERY_DEVICE(Submissions);

TEST_P(Submissions, OfNothingAreComplete) {
  TL_ASSERT_OK(queue().submit(Submission{}));
  TL_ASSERT_OK(queue().wait_idle());
  EXPECT_TRUE(queue().is_idle());
}

TEST_P(Submissions, OfNothingSignal) {
  const auto done = semaphore();
  TL_ASSERT_OK(queue().submit({.signals = {{done, 3}}}));
  TL_ASSERT_OK(done->wait(3));
  EXPECT_EQ(*done->value(), 3U);
}

TEST_P(Submissions, OfAnEmptyCommandBufferSignal) {
  const auto done = semaphore();
  const auto commands = begin();
  TL_ASSERT_OK(commands->finish());
  TL_ASSERT_OK(queue().submit({.commands = {commands}, .signals = {{done, 1}}}));
  TL_ASSERT_OK(done->wait(1));
}

TEST_P(Submissions, SignalWhenTheirWorkIsComplete) {
  const auto done = semaphore();
  std::vector<std::uint32_t> read(8);
  const auto commands = begin();
  TL_ASSERT_OK(commands->readback(x_, 0, writable_bytes_of(read)));
  TL_ASSERT_OK(commands->finish());
  TL_ASSERT_OK(queue().submit({.commands = {advance(5), commands}, .signals = {{done, 1}}}));
  TL_ASSERT_OK(done->wait(1));
  expect_bytes(bytes_of(read), bytes_of(std::vector<std::uint32_t>(8, 5)));
}

TEST_P(Submissions, SignalEachOfTheirSemaphores) {
  const auto a = semaphore(), b = semaphore(10), c = semaphore();
  TL_ASSERT_OK(queue().submit({.commands = {advance(1)}, .signals = {{a, 1}, {b, 11}, {c, 1000}}}));
  TL_ASSERT_OK(wait_all(std::vector<TimelinePoint>{{a, 1}, {b, 11}, {c, 1000}}));
}

TEST_P(Submissions, DoNotStartBeforeTheirWait) {
  const auto go = semaphore(), done = semaphore();
  TL_ASSERT_OK(
      queue().submit({.waits = {{go, 1}}, .commands = {advance(5)}, .signals = {{done, 1}}}));
  EXPECT_EQ(done->wait(1, after(milliseconds(20))).code(), StatusCode::DeadlineExceeded);
  EXPECT_FALSE(queue().is_idle());
  TL_ASSERT_OK(go->signal(1));
  TL_ASSERT_OK(done->wait(1));
  expect_x(5);
}

TEST_P(Submissions, WaitForEachOfTheirSemaphores) {
  const auto a = semaphore(), b = semaphore(), done = semaphore();
  TL_ASSERT_OK(queue().submit(
      {.waits = {{a, 1}, {b, 2}}, .commands = {advance(5)}, .signals = {{done, 1}}}));
  TL_ASSERT_OK(b->signal(2));
  EXPECT_EQ(done->wait(1, after(milliseconds(10))).code(), StatusCode::DeadlineExceeded);
  TL_ASSERT_OK(a->signal(1));
  TL_ASSERT_OK(done->wait(1));
  expect_x(5);
}

TEST_P(Submissions, DoNotWaitForWhatIsReached) {
  const auto past = semaphore(9), done = semaphore();
  TL_ASSERT_OK(queue().submit({.waits = {{past, 9}, {past, 2}, {done, 0}},
                               .commands = {advance(5)},
                               .signals = {{done, 1}}}));
  TL_ASSERT_OK(done->wait(1));
}

TEST_P(Submissions, StartWhenMoreThanTheirValueIsReached) {
  const auto go = semaphore(), done = semaphore();
  TL_ASSERT_OK(queue().submit({.waits = {{go, 3}}, .commands = {}, .signals = {{done, 1}}}));
  TL_ASSERT_OK(go->signal(7));
  TL_ASSERT_OK(done->wait(1));
}

TEST_P(Submissions, ChainThroughASemaphore) {
  const auto steps = semaphore();
  std::uint32_t expected = 0;
  for (std::uint64_t i = 1; i <= 20; ++i) {
    TL_ASSERT_OK(queue().submit({.waits = {{steps, i - 1}},
                                 .commands = {advance(static_cast<int>(i))},
                                 .signals = {{steps, i}}}));
    expected = expected * 3 + static_cast<std::uint32_t>(i);
  }
  TL_ASSERT_OK(steps->wait(20));
  expect_x(expected);
}

// The host and the queue take turns.
TEST_P(Submissions, PlayPingPongWithTheHost) {
  const auto ping = semaphore(), pong = semaphore();
  for (std::uint64_t i = 1; i <= 50; ++i)
    TL_ASSERT_OK(queue().submit({.waits = {{ping, i}}, .commands = {}, .signals = {{pong, i}}}));
  for (std::uint64_t i = 1; i <= 50; ++i) {
    EXPECT_EQ(*pong->value(), i - 1);
    TL_ASSERT_OK(ping->signal(i));
    TL_ASSERT_OK(pong->wait(i));
  }
}

TEST_P(Submissions, AreWaitedForByManyThreads) {
  const auto go = semaphore(), done = semaphore();
  TL_ASSERT_OK(
      queue().submit({.waits = {{go, 1}}, .commands = {advance(1)}, .signals = {{done, 1}}}));
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 12; ++i)
    threads.emplace_back([&] { failures += done->wait(1).ok() ? 0 : 1; });
  TL_ASSERT_OK(go->signal(1));
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
}

TEST_P(Submissions, TheFirstOfSeveralIsTold) {
  const auto never = semaphore(), soon = semaphore();
  TL_ASSERT_OK(queue().submit({.commands = {advance(1)}, .signals = {{soon, 1}}}));
  const std::vector<TimelinePoint> points = {{never, 1}, {soon, 1}};
  EXPECT_EQ(*wait_any(points), 1U);
}

TEST_P(Submissions, WaitsForAllOfSeveralTimeOut) {
  const auto never = semaphore(), soon = semaphore();
  TL_ASSERT_OK(queue().submit({.commands = {advance(1)}, .signals = {{soon, 1}}}));
  const std::vector<TimelinePoint> points = {{never, 1}, {soon, 1}};
  EXPECT_EQ(wait_all(points, after(milliseconds(20))).code(), StatusCode::DeadlineExceeded);
  TL_ASSERT_OK(soon->wait(1));
}

TEST_P(Submissions, CallBackWhenTheyAreComplete) {
  const auto done = semaphore(), called = semaphore();
  done->when_reached(1, [called](const Status& status) {
    EXPECT_TRUE(status.ok());
    EXPECT_TRUE(called->signal(1).ok());
  });
  TL_ASSERT_OK(queue().submit({.commands = {advance(1)}, .signals = {{done, 1}}}));
  TL_ASSERT_OK(called->wait(1));
}

TEST_P(Submissions, AreNotRunWhenTheirWaitFails) {
  const auto go = semaphore(), done = semaphore();
  TL_ASSERT_OK(
      queue().submit({.waits = {{go, 1}}, .commands = {advance(5)}, .signals = {{done, 1}}}));
  TL_ASSERT_OK(go->fail(lost()));
  EXPECT_THAT(done->wait(1), fails_with(StatusCode::DeviceError, "the tests' own error"));
  EXPECT_THAT(queue().wait_idle(), fails_with(StatusCode::DeviceError, "the tests' own error"));
  expect_x(0);
}

TEST_P(Submissions, FailAlongAChain) {
  const auto a = semaphore(), b = semaphore(), c = semaphore();
  TL_ASSERT_OK(queue().submit({.waits = {{a, 1}}, .commands = {advance(1)}, .signals = {{b, 1}}}));
  TL_ASSERT_OK(queue().submit({.waits = {{b, 1}}, .commands = {advance(2)}, .signals = {{c, 1}}}));
  TL_ASSERT_OK(a->fail(lost()));
  EXPECT_THAT(c->wait(1), fails_with(StatusCode::DeviceError, "the tests' own error"));
  EXPECT_FALSE(queue().wait_idle().ok());
  expect_x(0);
}

TEST_P(Submissions, RunAfterOneThatFailed) {
  const auto failed = semaphore();
  TL_ASSERT_OK(failed->fail(lost()));
  TL_ASSERT_OK(queue().submit({.waits = {{failed, 1}}, .commands = {advance(1)}, .signals = {}}));
  TL_ASSERT_OK(queue().submit(advance(7)));
  EXPECT_FALSE(queue().wait_idle().ok());
  TL_ASSERT_OK(queue().wait_idle());
  expect_x(7);
}

TEST_P(Submissions, ErrorsAreToldOnce) {
  const auto failed = semaphore();
  TL_ASSERT_OK(failed->fail(lost()));
  TL_ASSERT_OK(queue().submit({.waits = {{failed, 1}}, .commands = {advance(1)}, .signals = {}}));
  EXPECT_EQ(queue().wait_idle().code(), StatusCode::DeviceError);
  TL_EXPECT_OK(queue().wait_idle());
}

TEST_P(Submissions, ThatSignalBackwardsFail) {
  const auto done = semaphore(4);
  TL_ASSERT_OK(queue().submit({.commands = {advance(1)}, .signals = {{done, 4}}}));
  EXPECT_THAT(queue().wait_idle(),
              fails_with(StatusCode::InvalidArgument, "is at 4, and cannot be set to 4"));
}

TEST_P(Submissions, OfNoCommandBufferAreRefused) {
  EXPECT_THAT(queue().submit(nullptr), fails_with(StatusCode::InvalidArgument, "null"));
}

TEST_P(Submissions, OfNoSemaphoreAreRefused) {
  EXPECT_THAT(queue().submit({.waits = {{nullptr, 1}}, .commands = {}, .signals = {}}),
              fails_with(StatusCode::InvalidArgument, "a semaphore is null"));
  EXPECT_THAT(queue().submit({.waits = {}, .commands = {}, .signals = {{nullptr, 1}}}),
              fails_with(StatusCode::InvalidArgument, "a semaphore is null"));
}

TEST_P(Submissions, OfUnfinishedCommandBuffersAreRefused) {
  EXPECT_THAT(queue().submit(begin()), fails_with(StatusCode::InvalidArgument, "not finished"));
}

TEST_P(Submissions, OfAnotherDevicesCommandBuffersAreRefused) {
  const auto other = open_another();
  const auto commands = other->create_command_buffer();
  TL_ASSERT_OK(commands->finish());
  EXPECT_THAT(queue().submit(commands),
              fails_with(StatusCode::InvalidArgument, "belongs to another device"));
}

// If one of several command buffers is invalid, none of them runs and nothing is signaled.
TEST_P(Submissions, ThatAreRefusedChangeNothing) {
  const auto done = semaphore();
  EXPECT_FALSE(queue().submit({.commands = {advance(1), begin()}, .signals = {{done, 1}}}).ok());
  TL_ASSERT_OK(queue().wait_idle());
  EXPECT_EQ(*done->value(), 0U);
  expect_x(0);
}

// Each thread has its own buffer; all share the queue and the executable.
TEST_P(Submissions, ComeFromManyThreads) {
  constexpr int kThreads = 4, kRounds = 25;
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (int t = 0; t < kThreads; ++t)
    buffers.push_back(make_buffer(bytes_of(std::vector<std::uint32_t>(8, 0))));
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < kRounds; ++round) {
        if (!queue().submit(advance(buffers[t], t)).ok()) ++failures;
        if (round % 10 == 0 && !queue().wait_idle().ok()) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  for (int t = 0; t < kThreads; ++t) {
    std::uint32_t expected = 0;
    for (int round = 0; round < kRounds; ++round) expected = 3 * expected + t;
    expect_values(buffers[t], std::vector<std::uint32_t>(8, expected), std::to_string(t));
  }
}

TEST_P(Submissions, OfThreadsWaitForEachOther) {
  const auto turn = semaphore();
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      TL_EXPECT_OK(turn->wait(t));
      TL_EXPECT_OK(queue().submit({.waits = {{turn, t}},
                                   .commands = {advance(static_cast<int>(t + 1))},
                                   .signals = {{turn, t + 1}}}));
    });
  }
  for (std::thread& thread : threads) thread.join();
  TL_ASSERT_OK(turn->wait(4));
  expect_x(((1 * 3 + 2) * 3 + 3) * 3 + 4);
}

}  // namespace
}  // namespace texloom::hal::conformance
