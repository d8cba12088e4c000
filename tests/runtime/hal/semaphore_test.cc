// Tests timeline semaphores: values, failure, waits of several threads, callbacks.
#include "runtime/hal/semaphore.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace texloom::hal {
namespace {

using std::chrono::milliseconds;

std::shared_ptr<Semaphore> semaphore(std::uint64_t value = 0) {
  return Semaphore::create({.value = value});
}

Status lost() { return make_error(StatusCode::DeviceError, "the device is lost"); }

TEST(Semaphore, BeginsAtItsValueAndRises) {
  const auto owner = Semaphore::create({.value = 3});
  Semaphore& s = *owner;
  EXPECT_EQ(*s.value(), 3U);
  EXPECT_TRUE(s.signal(4).ok());
  EXPECT_TRUE(s.signal(10).ok());
  EXPECT_EQ(*s.value(), 10U);
}

TEST(Semaphore, NeverFallsAndIsNotSetAgain) {
  const auto owner = Semaphore::create({.value = 3});
  Semaphore& s = *owner;
  for (const std::uint64_t value : {0U, 2U, 3U}) {
    const Status status = s.signal(value);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_EQ(status.message(), "signal: the semaphore is at 3, and cannot be set to " +
                                    std::to_string(value) + ": values must increase");
  }
  EXPECT_EQ(*s.value(), 3U);
}

TEST(Semaphore, WaitsForWhatIsReachedEndAtOnce) {
  const auto owner = Semaphore::create({.value = 3});
  Semaphore& s = *owner;
  EXPECT_TRUE(s.wait(0).ok());
  EXPECT_TRUE(s.wait(3).ok());
  EXPECT_TRUE(s.wait(3, after(milliseconds(0))).ok());
}

TEST(Semaphore, WaitsEndInTime) {
  const auto owner = Semaphore::create();
  Semaphore& s = *owner;
  const auto begin = std::chrono::steady_clock::now();
  const Status status = s.wait(1, after(milliseconds(20)));
  EXPECT_EQ(status.code(), StatusCode::DeadlineExceeded);
  EXPECT_EQ(status.message(), "the value 1 is not reached in time");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(20));
  EXPECT_TRUE(s.signal(1).ok());
  EXPECT_TRUE(s.wait(1).ok());
}

TEST(Semaphore, TimesThatTheClockCannotCountToAreForEver) {
  EXPECT_FALSE(after(std::chrono::nanoseconds::max()).has_value());
  EXPECT_TRUE(after(std::chrono::hours(24)).has_value());
}

TEST(Semaphore, AThreadWaitsUntilAnotherSignals) {
  const auto s = semaphore();
  std::atomic<int> seen = 0;
  std::thread waiting([&] {
    EXPECT_TRUE(s->wait(2).ok());
    seen = 2;
  });
  EXPECT_TRUE(s->signal(1).ok());
  EXPECT_EQ(seen, 0);
  EXPECT_TRUE(s->signal(2).ok());
  waiting.join();
  EXPECT_EQ(seen, 2);
}

TEST(Semaphore, PingPong) {
  const auto ping = semaphore(), pong = semaphore();
  constexpr std::uint64_t kTurns = 1000;
  std::thread other([&] {
    for (std::uint64_t i = 1; i <= kTurns; ++i) {
      ASSERT_TRUE(ping->wait(i).ok());
      ASSERT_TRUE(pong->signal(i).ok());
    }
  });
  for (std::uint64_t i = 1; i <= kTurns; ++i) {
    ASSERT_TRUE(ping->signal(i).ok());
    ASSERT_TRUE(pong->wait(i).ok());
  }
  other.join();
}

TEST(Semaphore, ManyThreadsWaitForValuesOfTheirOwn) {
  const auto s = semaphore();
  constexpr std::uint64_t kThreads = 16;
  std::atomic<std::uint64_t> done = 0;
  std::vector<std::thread> threads;
  for (std::uint64_t i = 1; i <= kThreads; ++i) {
    threads.emplace_back([&, i] {
      EXPECT_TRUE(s->wait(i).ok());
      EXPECT_GE(*s->value(), i);
      ++done;
    });
  }
  for (std::uint64_t i = 1; i <= kThreads; ++i) EXPECT_TRUE(s->signal(i).ok());
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(done, kThreads);
}

TEST(Semaphore, AFailureReachesWhoeverWaits) {
  const auto s = semaphore(1);
  std::thread waiting([&] { EXPECT_EQ(s->wait(2).message(), "the device is lost"); });
  EXPECT_TRUE(s->fail(lost()).ok());
  waiting.join();
  EXPECT_EQ(s->wait(5).code(), StatusCode::DeviceError);
  EXPECT_EQ(s->value().status().code(), StatusCode::DeviceError);
  EXPECT_EQ(s->signal(7).code(), StatusCode::DeviceError);
}

TEST(Semaphore, WhatWasReachedBeforeAFailureIsReached) {
  const auto owner = Semaphore::create({.value = 4});
  Semaphore& s = *owner;
  EXPECT_TRUE(s.fail(lost()).ok());
  EXPECT_TRUE(s.wait(4).ok());
  EXPECT_FALSE(s.wait(5).ok());
}

TEST(Semaphore, TheFirstFailureCounts) {
  const auto owner = Semaphore::create();
  Semaphore& s = *owner;
  EXPECT_TRUE(s.fail(lost()).ok());
  EXPECT_TRUE(s.fail(make_error(StatusCode::OutOfMemory, "later")).ok());
  EXPECT_EQ(s.wait(1).code(), StatusCode::DeviceError);
}

TEST(Semaphore, SuccessIsNoFailure) {
  const auto owner = Semaphore::create();
  Semaphore& s = *owner;
  EXPECT_EQ(s.fail(Status()).code(), StatusCode::InvalidArgument);
  EXPECT_TRUE(s.value().ok());
}

TEST(Semaphore, CallbacksComeInTheOrderOfValues) {
  const auto owner = Semaphore::create({.value = 1});
  Semaphore& s = *owner;
  std::string order;
  const auto note = [&](char c) {
    return [&order, c](const Status& status) {
      EXPECT_TRUE(status.ok());
      order += c;
    };
  };
  s.when_reached(5, note('c'));
  s.when_reached(3, note('a'));
  s.when_reached(3, note('b'));
  s.when_reached(6, note('d'));
  s.when_reached(1, note('0'));
  EXPECT_EQ(order, "0");
  EXPECT_TRUE(s.signal(5).ok());
  EXPECT_EQ(order, "0abc");
  EXPECT_TRUE(s.signal(9).ok());
  EXPECT_EQ(order, "0abcd");
}

TEST(Semaphore, ACallbackMayUseTheSemaphore) {
  const auto owner = Semaphore::create();
  Semaphore& s = *owner;
  std::uint64_t seen = 0;
  s.when_reached(1, [&](const Status&) {
    EXPECT_TRUE(s.signal(2).ok());
    seen = *s.value();
  });
  EXPECT_TRUE(s.signal(1).ok());
  EXPECT_EQ(seen, 2U);
}

TEST(Semaphore, CanceledCallbacksAreNotCalled) {
  const auto owner = Semaphore::create();
  Semaphore& s = *owner;
  int calls = 0;
  const auto count = [&](const Status&) { ++calls; };
  const std::uint64_t first = s.when_reached(1, count), second = s.when_reached(1, count);
  EXPECT_NE(first, second);
  EXPECT_TRUE(s.cancel(first));
  EXPECT_FALSE(s.cancel(first));
  EXPECT_TRUE(s.signal(1).ok());
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(s.cancel(second));
}

TEST(Semaphore, AReleasedSemaphoreTellsThoseWhoWait) {
  Status status;
  {
    const auto owner = Semaphore::create();
    Semaphore& s = *owner;
    s.when_reached(1, [&](const Status& given) { status = given; });
  }
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(status.message(), "the semaphore was released before it reached the value");
}

TEST(WaitAll, ForEachOfThem) {
  const auto a = semaphore(), b = semaphore(7);
  std::thread signalling([&] { EXPECT_TRUE(a->signal(1).ok()); });
  EXPECT_TRUE(wait_all(std::vector<TimelinePoint>{{a, 1}, {b, 7}, {a, 1}}).ok());
  signalling.join();
}

TEST(WaitAll, TimesOutWhereOneIsMissing) {
  const auto a = semaphore(1), b = semaphore();
  const std::vector<TimelinePoint> points = {{a, 1}, {b, 1}};
  const Status status = wait_all(points, after(milliseconds(1)));
  EXPECT_EQ(status.code(), StatusCode::DeadlineExceeded);
  EXPECT_EQ(status.message(), "2 values are not reached in time");
}

TEST(WaitAll, FailsAtOnceWhereOneFails) {
  const auto never = semaphore(), failing = semaphore();
  std::thread other([&] { EXPECT_TRUE(failing->fail(lost()).ok()); });
  const std::vector<TimelinePoint> points = {{never, 1}, {failing, 1}};
  EXPECT_EQ(wait_all(points).code(), StatusCode::DeviceError);
  other.join();
}

TEST(WaitAll, OfNone) {
  EXPECT_TRUE(wait_all({}).ok());
  EXPECT_TRUE(wait_all({}, after(milliseconds(0))).ok());
}

TEST(WaitAll, NullIsRefused) {
  const std::vector<TimelinePoint> points = {{nullptr, 1}};
  EXPECT_EQ(wait_all(points).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(wait_any(points).status().code(), StatusCode::InvalidArgument);
}

TEST(WaitAny, ForTheFirstOfThem) {
  const auto a = semaphore(), b = semaphore();
  const std::vector<TimelinePoint> points = {{a, 1}, {b, 1}};
  std::thread signalling([&] { EXPECT_TRUE(b->signal(1).ok()); });
  EXPECT_EQ(*wait_any(points), 1U);
  signalling.join();
  EXPECT_TRUE(a->signal(1).ok());
  EXPECT_EQ(*wait_any(points), 0U);
}

TEST(WaitAny, TimesOutOrFails) {
  const auto a = semaphore(), b = semaphore();
  const std::vector<TimelinePoint> points = {{a, 1}, {b, 1}};
  EXPECT_EQ(wait_any(points, after(milliseconds(1))).status().code(), StatusCode::DeadlineExceeded);
  EXPECT_TRUE(b->fail(lost()).ok());
  EXPECT_EQ(wait_any(points).status().code(), StatusCode::DeviceError);
  EXPECT_EQ(wait_any({}).status().code(), StatusCode::InvalidArgument);
}

// After a wait timed out, its callback must not be called, since the wait's stack frame is gone.
TEST(WaitAny, NothingIsLeft) {
  const auto s = semaphore();
  for (int i = 0; i < 100; ++i) {
    const std::vector<TimelinePoint> points = {{s, 1}};
    EXPECT_FALSE(wait_any(points, after(milliseconds(0))).ok());
  }
  EXPECT_TRUE(s->signal(1).ok());
}

// Threads signal, wait with short deadlines and fail, all at once: no thread hangs, and each wait
// ends in one of the allowed ways.
TEST(Semaphore, ThreadsAtRandom) {
  for (int round = 0; round < 20; ++round) {
    const std::vector<std::shared_ptr<Semaphore>> all = {semaphore(), semaphore(), semaphore()};
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < 4; ++t) {
      threads.emplace_back([&all, t, round] {
        for (std::uint64_t i = 1; i < 50; ++i) {
          const std::vector<TimelinePoint> points = {{all[i % 3], i}, {all[(i + t) % 3], i + 1}};
          const Status any = wait_any(points, after(std::chrono::microseconds(i))).status();
          EXPECT_TRUE(any.ok() || any.code() == StatusCode::DeadlineExceeded ||
                      any.code() == StatusCode::DeviceError);
          (void)all[(i + t) % 3]->signal(i);
          if (round % 2 == 1 && t == 3 && i == 30) (void)all[1]->fail(lost());
        }
      });
    }
    for (std::thread& t : threads) t.join();
  }
}

}  // namespace
}  // namespace texloom::hal
