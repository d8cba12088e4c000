// Tests submissions: order, semaphores, failure, threads.
#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <thread>

#include "tests/runtime/hal/queue_fixture.h"

namespace texloom::hal {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TEST_F(Queues, SubmitDoesNotWaitForTheDriver) {
  script_->hold(true);
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(queue_->submit(commands()).ok());
  EXPECT_FALSE(queue_->is_idle());
  EXPECT_TRUE(script_->seen().empty());
  script_->hold(false);
  EXPECT_TRUE(queue_->wait_idle().ok());
  EXPECT_TRUE(queue_->is_idle());
  EXPECT_EQ(script_->seen(), std::vector<std::size_t>(200, 1));
}

TEST_F(Queues, AWaitMayComeBeforeItsSignal) {
  EXPECT_TRUE(queue_->submit({{{a_, 1}}, {commands(), commands()}, {{b_, 5}}}).ok());
  EXPECT_EQ(b_->wait(5, after(milliseconds(20))).code(), StatusCode::DeadlineExceeded);
  EXPECT_EQ(script_->start_count(), 0);
  EXPECT_TRUE(a_->signal(1).ok());
  EXPECT_TRUE(b_->wait(5).ok());
  EXPECT_EQ(script_->seen(), std::vector<std::size_t>{2});
}

TEST_F(Queues, WhatIsReachedIsNotWaitedFor) {
  EXPECT_TRUE(a_->signal(3).ok());
  EXPECT_TRUE(queue_->submit({{{a_, 2}, {a_, 3}, {b_, 0}}, {commands()}, {}}).ok());
  EXPECT_TRUE(queue_->wait_idle().ok());
  EXPECT_EQ(script_->seen().size(), 1U);
}

TEST_F(Queues, SubmissionsStayInOrderAfterOneThatWaits) {
  EXPECT_TRUE(queue_->submit({{{a_, 1}}, {commands()}, {{b_, 1}}}).ok());
  EXPECT_TRUE(queue_->submit({{}, {commands(), commands(), commands()}, {{b_, 2}}}).ok());
  EXPECT_FALSE(b_->wait(1, after(milliseconds(10))).ok());
  EXPECT_TRUE(a_->signal(1).ok());
  EXPECT_TRUE(b_->wait(2).ok());
  EXPECT_EQ(script_->seen(), (std::vector<std::size_t>{1, 3}));
}

TEST_F(Queues, SignalsWithoutCommandsKeepTheirPlace) {
  script_->hold(true);
  EXPECT_TRUE(queue_->submit(commands()).ok());
  EXPECT_TRUE(queue_->submit({{}, {}, {{a_, 1}, {b_, 2}}}).ok());
  EXPECT_FALSE(a_->wait(1, after(milliseconds(10))).ok());
  script_->hold(false);
  EXPECT_TRUE(wait_all(std::vector<TimelinePoint>{{a_, 1}, {b_, 2}}).ok());
  EXPECT_EQ(script_->seen(), std::vector<std::size_t>{1});
  EXPECT_EQ(script_->start_count(), 1);  // empty work is not started
}

TEST_F(Queues, AFailedWaitRunsNothingAndSpreads) {
  EXPECT_TRUE(queue_->submit({{{a_, 1}}, {commands()}, {{b_, 1}}}).ok());
  EXPECT_TRUE(a_->fail(lost()).ok());
  EXPECT_EQ(b_->wait(1).message(), "the device is lost");
  EXPECT_EQ(queue_->wait_idle().code(), StatusCode::DeviceError);
  EXPECT_EQ(script_->start_count(), 0);
  EXPECT_TRUE(queue_->submit(commands()).ok());
  EXPECT_TRUE(queue_->wait_idle().ok());
}

// If two submissions would signal enough, a wait ends with the first one.
TEST_F(Queues, TheFirstSignalThatSufficesIsWaitedFor) {
  EXPECT_TRUE(queue_->submit({{}, {commands()}, {{a_, 5}}}).ok());
  EXPECT_TRUE(queue_->submit({{{b_, 1}}, {commands()}, {{a_, 10}}}).ok());
  const auto c = Semaphore::create(), d = Semaphore::create();
  EXPECT_TRUE(queue_->submit({{{a_, 5}}, {commands()}, {{c, 1}}}).ok());
  EXPECT_TRUE(a_->wait(5).ok());
  EXPECT_TRUE(queue_->submit({{{a_, 5}}, {commands()}, {{d, 1}}}).ok());
  EXPECT_TRUE(b_->fail(lost()).ok());  // the submission that would signal 10 fails too
  EXPECT_TRUE(c->wait(1).ok());
  EXPECT_TRUE(d->wait(1).ok());
  EXPECT_EQ(queue_->wait_idle().code(), StatusCode::DeviceError);
}

// A wait succeeds once its signal came, even if another signal of that submission is refused.
TEST_F(Queues, ASignalThatCameIsNoErrorWhateverFailsAfterIt) {
  for (const bool early : {true, false}) {
    const auto a = Semaphore::create(), high = Semaphore::create({.value = 5});
    const auto c = Semaphore::create();
    script_->run(!early);
    EXPECT_TRUE(queue_->submit({{}, {commands()}, {{a, 1}, {high, 2}}}).ok());
    if (early) {
      EXPECT_EQ(queue_->wait_idle().code(), StatusCode::InvalidArgument);
    }
    EXPECT_TRUE(queue_->submit({{{a, 1}}, {commands()}, {{c, 1}}}).ok());
    script_->run(false);
    EXPECT_TRUE(c->wait(1).ok());
    EXPECT_EQ(queue_->wait_idle().ok(), early);
  }
}

// If an earlier submission fails, work that waits for it fails at once, despite other open waits.
TEST_F(Queues, AWaitForAnEarlierSubmissionThatFailsDoesNotWaitForTheOthers) {
  script_->run(true);
  EXPECT_TRUE(queue_->submit({{}, {commands()}, {{a_, 1}}}).ok());
  const auto c = Semaphore::create();
  EXPECT_TRUE(queue_->submit({{{a_, 1}, {b_, 1}}, {commands()}, {{c, 1}}}).ok());
  EXPECT_EQ(queue_->wait_idle(after(milliseconds(5))).code(), StatusCode::DeadlineExceeded);
  script_->work_error = lost();
  script_->run(false);
  EXPECT_EQ(c->wait(1).message(), "the device is lost");
  EXPECT_EQ(queue_->wait_idle().code(), StatusCode::DeviceError);
  EXPECT_EQ(script_->start_count(), 1);
}

TEST_F(Queues, WaitsAloneHoldUpWhatComesAfter) {
  EXPECT_TRUE(queue_->submit({{{a_, 1}}, {}, {}}).ok());
  EXPECT_TRUE(queue_->submit({{}, {commands()}, {{b_, 1}}}).ok());
  EXPECT_FALSE(b_->wait(1, after(milliseconds(10))).ok());
  EXPECT_EQ(script_->start_count(), 0);
  EXPECT_TRUE(a_->fail(lost()).ok());
  EXPECT_TRUE(b_->wait(1).ok());
  EXPECT_EQ(queue_->wait_idle().code(), StatusCode::DeviceError);
}

// Errors of other work are reported by wait_idle(), but never as the error of the caller's run().
TEST_F(Queues, WhoRunsWorkIsToldItsOwnError) {
  EXPECT_TRUE(queue_->submit({{{a_, 1}}, {commands()}, {}}).ok());
  EXPECT_TRUE(a_->fail(lost()).ok());
  const auto failed = Semaphore::create();
  EXPECT_TRUE(failed->fail(make_error(StatusCode::NotFound, "mine")).ok());
  EXPECT_EQ(queue_->run({{{failed, 1}}, {commands()}, {}}).message(), "mine");
  EXPECT_EQ(queue_->run({{}, {commands()}, {}}).message(), "the device is lost");
  EXPECT_TRUE(queue_->run({{}, {commands()}, {}}).ok());
  EXPECT_TRUE(queue_->wait_idle().ok());
}

// A wait for an earlier submission of the same queue needs no host: both submissions start at once.
TEST_F(Queues, WhatAnEarlierSubmissionSignalsIsNotWaitedFor) {
  script_->run(true);
  EXPECT_TRUE(queue_->submit({{}, {commands()}, {{a_, 3}}}).ok());
  EXPECT_TRUE(queue_->submit({{{a_, 2}}, {commands(), commands()}, {{b_, 1}}}).ok());
  EXPECT_EQ(queue_->wait_idle(after(milliseconds(20))).code(), StatusCode::DeadlineExceeded);
  EXPECT_EQ(script_->start_count(), 2);
  script_->run(false);
  EXPECT_TRUE(b_->wait(1).ok());
  EXPECT_EQ(script_->seen(), (std::vector<std::size_t>{1, 2}));
}

// A wait for an earlier submission of the same queue is dropped in every state of that submission.
TEST_F(Queues, WhatIsUnderWayAnywhereInTheQueueIsNotWaitedFor) {
  struct Place {
    const char* name;
    bool waits, is_held;
    bool (*reached)(const Script&);
  };
  constexpr auto always = [](const Script&) { return true; };
  constexpr auto started = [](const Script& script) { return script.starts == 1; };
  constexpr auto awaited = [](const Script& script) { return script.waits == 1; };
  for (const Place& place :
       {Place{"waits", true, false, always}, Place{"is being started", false, true, started},
        Place{"is being completed", false, false, awaited}}) {
    SCOPED_TRACE(place.name);
    const auto script = std::make_shared<Script>();
    const auto queue = make_queue(script);
    const auto gate = Semaphore::create(), signal = Semaphore::create();
    script->run(true);
    script->hold(place.is_held);
    std::vector<TimelinePoint> waits;
    if (place.waits) waits.push_back({gate, 1});
    EXPECT_TRUE(queue->submit({waits, {commands()}, {{signal, 1}}}).ok());
    EXPECT_TRUE(script->becomes(place.reached));
    EXPECT_TRUE(queue->submit({{{signal, 1}}, {commands(), commands()}, {}}).ok());
    script->hold(false);
    EXPECT_TRUE(gate->signal(1).ok());
    EXPECT_TRUE(script->becomes([](const Script& now) { return now.starts == 2; }));
    script->run(false);
    EXPECT_TRUE(queue->wait_idle().ok());
    EXPECT_EQ(script->seen(), (std::vector<std::size_t>{1, 2}));
  }
}

// Submissions without signals complete together, but an error of any of them is reported.
TEST_F(Queues, ErrorsOfWhatSignalsNothingAreTold) {
  script_->run(true);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(queue_->submit(commands()).ok());
  EXPECT_TRUE(queue_->submit({{}, {commands()}, {{a_, 1}}}).ok());
  EXPECT_EQ(queue_->wait_idle(after(milliseconds(5))).code(), StatusCode::DeadlineExceeded);
  script_->work_error = lost();
  script_->run(false);
  EXPECT_EQ(a_->wait(1).message(), "the device is lost");
  EXPECT_EQ(queue_->wait_idle().code(), StatusCode::DeviceError);
  EXPECT_EQ(script_->seen().size(), 6U);
}

TEST_F(Queues, AnErrorSpreadsAlongTheOrder) {
  script_->run(true);
  EXPECT_TRUE(queue_->submit({{}, {commands()}, {{a_, 1}}}).ok());
  EXPECT_TRUE(queue_->submit({{{a_, 1}}, {commands()}, {{b_, 1}}}).ok());
  script_->work_error = lost();
  script_->run(false);
  EXPECT_EQ(b_->wait(1).message(), "the device is lost");
  EXPECT_EQ(queue_->wait_idle().code(), StatusCode::DeviceError);
}

// Work that failed to start signals nothing, so work that waits for it is not started either.
TEST_F(Queues, NothingIsStartedAfterWhatDidNotStart) {
  script_->start_error = lost();
  EXPECT_TRUE(queue_->submit({{{b_, 1}}, {}, {{a_, 1}}}).ok());
  EXPECT_TRUE(queue_->submit({{{a_, 1}}, {commands()}, {}}).ok());
  EXPECT_TRUE(b_->fail(lost()).ok());
  EXPECT_EQ(queue_->wait_idle().message(), "the device is lost");
  EXPECT_EQ(script_->start_count(), 0);
}

// One of two waits fails while the other point is never reached.
TEST_F(Queues, AFailedWaitDoesNotWaitForTheOthers) {
  EXPECT_TRUE(queue_->submit({{{b_, 1}, {a_, 1}}, {commands()}, {}}).ok());
  EXPECT_TRUE(a_->fail(lost()).ok());
  EXPECT_EQ(queue_->wait_idle().code(), StatusCode::DeviceError);
}

TEST_F(Queues, ErrorsOfTheDriverFailTheSignals) {
  script_->start_error = make_error(StatusCode::OutOfMemory, "no room");
  EXPECT_TRUE(queue_->submit({{}, {commands()}, {{a_, 1}}}).ok());
  EXPECT_EQ(a_->wait(1).message(), "submit: no room");
  EXPECT_EQ(queue_->wait_idle().code(), StatusCode::OutOfMemory);
  script_->start_error = {};
  script_->work_error = lost();
  EXPECT_TRUE(queue_->submit({{}, {commands()}, {{b_, 1}}}).ok());
  EXPECT_EQ(b_->wait(1).message(), "the device is lost");
  EXPECT_EQ(queue_->wait_idle().code(), StatusCode::DeviceError);
  EXPECT_TRUE(queue_->wait_idle().ok());  // the error is reported once
}

TEST_F(Queues, ASignalThatFallsIsAnError) {
  EXPECT_TRUE(a_->signal(4).ok());
  EXPECT_TRUE(queue_->submit({{}, {commands()}, {{a_, 4}}}).ok());
  EXPECT_THAT(queue_->wait_idle().message(), HasSubstr("is at 4, and cannot be set to 4"));
}

TEST_F(Queues, WrongSubmissionsChangeNothing) {
  EXPECT_THAT(queue_->submit({{{nullptr, 1}}, {commands()}, {}}).message(),
              HasSubstr("a semaphore is null"));
  EXPECT_THAT(queue_->submit({{}, {commands()}, {{nullptr, 1}}}).message(),
              HasSubstr("a semaphore is null"));
  EXPECT_THAT(queue_->submit({{}, {commands(), nullptr}, {{a_, 1}}}).message(),
              HasSubstr("the command buffer is null"));
  EXPECT_TRUE(queue_->is_idle());
  EXPECT_EQ(*a_->value(), 0U);
}

// Each queue waits for the other's signal, a hundred times; everything is submitted at once.
TEST_F(Queues, QueuesTakeTurns) {
  const auto other_script = std::make_shared<Script>();
  const auto other = make_queue(other_script);
  constexpr std::uint64_t kTurns = 100;
  for (std::uint64_t i = 0; i < kTurns; ++i) {
    EXPECT_TRUE(other->submit({{{a_, i + 1}}, {commands()}, {{b_, i + 1}}}).ok());
    EXPECT_TRUE(queue_->submit({{{b_, i}}, {commands()}, {{a_, i + 1}}}).ok());
  }
  EXPECT_TRUE(b_->wait(kTurns).ok());
  EXPECT_TRUE(queue_->wait_idle().ok());
  EXPECT_TRUE(other->wait_idle().ok());
  EXPECT_EQ(script_->seen().size(), kTurns);
  EXPECT_EQ(other_script->seen().size(), kTurns);
}

TEST_F(Queues, AWaitMayEndBeforeTheWork) {
  script_->run(true);
  EXPECT_TRUE(queue_->submit({{}, {commands()}, {{a_, 1}}}).ok());
  EXPECT_EQ(queue_->wait_idle(after(milliseconds(10))).code(), StatusCode::DeadlineExceeded);
  EXPECT_EQ(queue_->wait_idle(after(milliseconds(-1))).code(), StatusCode::DeadlineExceeded);
  script_->run(false);
  EXPECT_TRUE(a_->wait(1).ok());  // a thread of the queue signals
}

TEST_F(Queues, ThreadsSubmitAndWaitAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        EXPECT_TRUE(queue_->submit(commands()).ok());
        const Deadline deadline = t % 2 == 0 ? Deadline() : after(std::chrono::seconds(60));
        EXPECT_TRUE(queue_->wait_idle(deadline).ok());
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(script_->seen().size(), 200U);
}

TEST_F(Queues, ThreadsSubmitAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const auto own = Semaphore::create();
      for (std::uint64_t i = 1; i <= 50; ++i) {
        EXPECT_TRUE(queue_->submit({{{own, i - 1}}, {commands()}, {{own, i}}}).ok());
      }
      EXPECT_TRUE(own->wait(50).ok());
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_TRUE(queue_->wait_idle().ok());
  EXPECT_EQ(script_->seen().size(), 200U);
}

}  // namespace
}  // namespace texloom::hal
