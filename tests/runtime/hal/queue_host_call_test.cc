// Tests host calls of queues, callbacks that release a queue, and queues at process exit.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/runtime/hal/queue_fixture.h"

namespace texloom::hal {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TEST_F(Queues, AReleasedQueueFailsWhatStillWaits) {
  EXPECT_TRUE(queue_->submit({{}, {commands()}, {{b_, 1}}}).ok());
  EXPECT_TRUE(queue_->submit({{{a_, 1}}, {commands()}, {{b_, 2}}}).ok());
  queue_.reset();
  EXPECT_TRUE(b_->wait(1).ok());
  EXPECT_EQ(b_->wait(2).code(), StatusCode::Unavailable);
  EXPECT_EQ(script_->seen().size(), 1U);
  EXPECT_TRUE(a_->signal(1).ok());  // no callback is left
}

// A thread of the queue releases the last handle; the thread cannot wait for itself.
TEST_F(Queues, ACallbackMayReleaseTheQueue) {
  std::shared_ptr<Queue>* held = &queue_;
  a_->when_reached(1, [held](const Status&) { held->reset(); });
  const auto queue = queue_.get();
  EXPECT_TRUE(queue->submit({{}, {commands()}, {{a_, 1}, {b_, 1}}}).ok());
  EXPECT_TRUE(b_->wait(1).ok());
}

// A waiting thread that completes work runs the callback that releases the handle. If another
// thread runs the callback, the handle stays, since the waiting thread may begin to wait later.
TEST_F(Queues, ACallbackMayReleaseTheQueueThatIsWaitedFor) {
  a_->when_reached(1, [this, waiting = std::this_thread::get_id()](const Status&) {
    if (std::this_thread::get_id() == waiting) queue_.reset();
  });
  EXPECT_TRUE(queue_->submit({{{b_, 1}}, {commands()}, {{a_, 1}}}).ok());
  EXPECT_TRUE(queue_->submit(commands()).ok());
  std::thread signaller([&] { EXPECT_TRUE(b_->signal(1).ok()); });
  EXPECT_TRUE(queue_->wait_idle().ok());
  signaller.join();
  EXPECT_EQ(script_->seen().size(), 2U);
}

TEST_F(Queues, AHostCallWaitsForAllBeforeIt) {
  script_->run(true);
  EXPECT_TRUE(queue_->submit(commands()).ok());
  std::atomic<bool> called = false;
  EXPECT_TRUE(queue_
                  ->submit({{},
                            {host_call([&] {
                              called = true;
                              return Status();
                            })},
                            {{a_, 1}}})
                  .ok());
  EXPECT_FALSE(a_->wait(1, after(milliseconds(20))).ok());
  EXPECT_EQ(queue_->wait_idle(after(milliseconds(5))).code(), StatusCode::DeadlineExceeded);
  EXPECT_FALSE(called);
  script_->run(false);
  EXPECT_TRUE(a_->wait(1).ok());
  EXPECT_TRUE(called);
}

TEST_F(Queues, ADriverIsGivenWhatIsBetweenHostCalls) {
  std::vector<int> starts;
  const auto note = [&] {
    starts.push_back(script_->start_count());
    return Status();
  };
  EXPECT_TRUE(
      queue_->submit({{}, {commands(), commands_around(note), commands_around(note)}, {}}).ok());
  EXPECT_TRUE(queue_->wait_idle().ok());
  EXPECT_EQ(starts, (std::vector<int>{1, 2}));
  EXPECT_EQ(script_->seen(), (std::vector<std::size_t>{2, 2, 1}));
}

// A host call is skipped after an error, even if work before the call fails on the device.
TEST_F(Queues, NoHostCallIsMadeAfterAnError) {
  std::atomic<int> calls = 0;
  const auto count = [&] {
    ++calls;
    return Status();
  };
  script_->run(true);
  EXPECT_TRUE(queue_->submit({{}, {commands_around(count)}, {{a_, 1}}}).ok());
  EXPECT_TRUE(queue_->submit({{{a_, 1}}, {host_call(count)}, {{b_, 1}}}).ok());
  EXPECT_EQ(queue_->wait_idle(after(milliseconds(5))).code(), StatusCode::DeadlineExceeded);
  script_->work_error = lost();
  script_->run(false);
  EXPECT_EQ(b_->wait(1).message(), "the device is lost");
  EXPECT_EQ(queue_->wait_idle().message(), "the device is lost");
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(script_->seen().size(), 1U);
}

TEST_F(Queues, WhatTheQueueCallsMayNotWaitForIt) {
  EXPECT_FALSE(queue_->runs_on_calling_thread());
  Status told, ran;
  bool own = false;
  EXPECT_TRUE(queue_
                  ->submit(host_call([&] {
                    own = queue_->runs_on_calling_thread();
                    told = queue_->wait_idle();
                    ran = queue_->run({{}, {commands()}, {}});
                    return Status();
                  }))
                  .ok());
  EXPECT_TRUE(queue_->wait_idle().ok());
  EXPECT_TRUE(own);
  EXPECT_THAT(told.message(), HasSubstr("waits for its own queue"));
  EXPECT_THAT(ran.message(), HasSubstr("waits for its own queue"));
}

TEST_F(Queues, AHostCallMayReleaseTheQueue) {
  const std::weak_ptr<Queue> watched = queue_;
  EXPECT_TRUE(queue_
                  ->submit({{{a_, 1}},
                            {host_call([&] {
                              queue_.reset();
                              return Status();
                            })},
                            {{b_, 1}}})
                  .ok());
  EXPECT_TRUE(a_->signal(1).ok());
  EXPECT_TRUE(b_->wait(1).ok());
  EXPECT_TRUE(watched.expired());
}

class QueuesDeathTest : public Queues {};

// When a process exits, its live queues wait for work that the driver has, but not for work that
// waits for semaphores. They refuse further work.
TEST_F(QueuesDeathTest, TheEndOfTheProcessStopsThem) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto end = [&] {
    static std::shared_ptr<Queue> left = queue_;
    static const std::shared_ptr<Script> script = script_;
    script->run(true);
    EXPECT_TRUE(left->submit({{}, {commands()}, {{a_, 1}}}).ok());
    EXPECT_TRUE(left->submit({{{b_, 1}}, {commands()}, {}}).ok());
    static std::thread driver;
    std::atexit([] {  // runs after the queue's handler
      driver.join();
      std::fputs(left->is_idle() ? "idle." : "busy.", stderr);
      std::fputs(left->submit({{}, {}, {{Semaphore::create(), 1}}}).message().c_str(), stderr);
    });
    const std::shared_ptr<Queue> later = make_queue(std::make_shared<Script>());
    driver = std::thread([] {
      std::this_thread::sleep_for(milliseconds(50));
      script->run(false);
    });
    std::exit(3);
  };
  EXPECT_EXIT(end(), ::testing::ExitedWithCode(3), "^idle\\.submit: the process is about to end$");
}

}  // namespace
}  // namespace texloom::hal
