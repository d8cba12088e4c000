// Submissions: order, semaphores, failure, release; over a driver of the tests' own, which does
// what it is told to when it is told to.
#include "runtime/hal/queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace texloom::hal {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

// What the driver is told, and what it was asked to do.
struct Script {
  std::mutex mutex;
  std::condition_variable changed;
  bool held = false;     // calls of start do not return
  bool running = false;  // what is started is not complete
  Status start_error, work_error;
  int starts = 0;
  std::vector<std::size_t> finished;  // of each work: how many command buffers it had

  void hold(bool hold) {
    const std::scoped_lock lock(mutex);
    held = hold;
    changed.notify_all();
  }
  void run(bool run) {
    const std::scoped_lock lock(mutex);
    running = run;
    changed.notify_all();
  }
  int start_count() {
    const std::scoped_lock lock(mutex);
    return starts;
  }
  std::vector<std::size_t> seen() {
    const std::scoped_lock lock(mutex);
    return finished;
  }
};

class ScriptedBackend final : public QueueBackend {
 public:
  explicit ScriptedBackend(std::shared_ptr<Script> script) : script_(std::move(script)) {}

  Result<std::unique_ptr<Work>> start(std::span<const CommandRange> commands) override {
    std::unique_lock lock(script_->mutex);
    ++script_->starts;
    script_->changed.wait(lock, [&] { return !script_->held; });
    if (!script_->start_error.ok()) return script_->start_error;
    return std::unique_ptr<Work>(std::make_unique<ScriptedWork>(script_, commands.size()));
  }

 private:
  class ScriptedWork final : public Work {
   public:
    ScriptedWork(std::shared_ptr<Script> script, std::size_t count)
        : script_(std::move(script)), count_(count) {}
    bool is_complete() override {
      const std::scoped_lock lock(script_->mutex);
      return !script_->running;
    }
    Status wait() override {
      std::unique_lock lock(script_->mutex);
      script_->changed.wait(lock, [&] { return !script_->running; });
      script_->finished.push_back(count_);
      return script_->work_error;
    }

   private:
    std::shared_ptr<Script> script_;
    std::size_t count_;
  };

  std::shared_ptr<Script> script_;
};

class PlainBuffer final : public Buffer {
 public:
  explicit PlainBuffer(std::shared_ptr<const DeviceInfo> info)
      : Buffer(std::move(info), {.bytes = 4}) {}
};

Status lost() { return make_error(StatusCode::DeviceError, "the device is lost"); }

class Queues : public ::testing::Test {
 protected:
  std::shared_ptr<Queue> make_queue(const std::shared_ptr<Script>& script) const {
    auto queue = Queue::create(info_, std::make_unique<ScriptedBackend>(script));
    EXPECT_TRUE(queue.ok());
    return *queue;
  }
  std::shared_ptr<const CommandBuffer> commands() const {
    auto made = std::make_shared<CommandBuffer>(info_);
    const std::array<std::byte, 4> data = {};
    EXPECT_TRUE(made->update(std::make_shared<PlainBuffer>(info_), 0, data).ok());
    EXPECT_TRUE(made->finish().ok());
    return made;
  }

  // Commands of the device, a host call, and commands again.
  std::shared_ptr<const CommandBuffer> commands_around(std::function<Status()> call) const {
    auto made = std::make_shared<CommandBuffer>(info_);
    const auto buffer = std::make_shared<PlainBuffer>(info_);
    const std::array<std::byte, 4> data = {};
    EXPECT_TRUE(made->update(buffer, 0, data).ok());
    EXPECT_TRUE(made->host_call(std::move(call)).ok());
    EXPECT_TRUE(made->update(buffer, 0, data).ok());
    EXPECT_TRUE(made->finish().ok());
    return made;
  }
  std::shared_ptr<const CommandBuffer> host_call(std::function<Status()> call) const {
    auto made = std::make_shared<CommandBuffer>(info_);
    EXPECT_TRUE(made->host_call(std::move(call)).ok());
    EXPECT_TRUE(made->finish().ok());
    return made;
  }

  std::shared_ptr<const DeviceInfo> info_ = std::make_shared<const DeviceInfo>();
  std::shared_ptr<Script> script_ = std::make_shared<Script>();
  std::shared_ptr<Queue> queue_ = make_queue(script_);
  std::shared_ptr<Semaphore> a_ = std::make_shared<Semaphore>();
  std::shared_ptr<Semaphore> b_ = std::make_shared<Semaphore>();
};

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

TEST_F(Queues, SubmissionsStayInOrderBehindOneThatWaits) {
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
  EXPECT_EQ(script_->start_count(), 1);  // the driver is given nothing that is empty
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

// Of two that will signal enough the first one is what is waited for.
TEST_F(Queues, TheFirstSignalThatSufficesIsWaitedFor) {
  EXPECT_TRUE(queue_->submit({{}, {commands()}, {{a_, 5}}}).ok());
  EXPECT_TRUE(queue_->submit({{{b_, 1}}, {commands()}, {{a_, 10}}}).ok());
  const auto c = std::make_shared<Semaphore>(), d = std::make_shared<Semaphore>();
  EXPECT_TRUE(queue_->submit({{{a_, 5}}, {commands()}, {{c, 1}}}).ok());
  EXPECT_TRUE(a_->wait(5).ok());
  EXPECT_TRUE(queue_->submit({{{a_, 5}}, {commands()}, {{d, 1}}}).ok());
  EXPECT_TRUE(b_->fail(lost()).ok());  // and with it what would signal 10
  EXPECT_TRUE(c->wait(1).ok());
  EXPECT_TRUE(d->wait(1).ok());
  EXPECT_EQ(queue_->wait_idle().code(), StatusCode::DeviceError);
}

// One signal of a submission may be refused behind another that came.
TEST_F(Queues, ASignalThatCameIsNoErrorWhateverFailsBehindIt) {
  for (const bool early : {true, false}) {
    const auto a = std::make_shared<Semaphore>(), high = std::make_shared<Semaphore>(5);
    const auto c = std::make_shared<Semaphore>();
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

// What an earlier submission of the queue was to signal will not come: the other need not, either.
TEST_F(Queues, AWaitForAnEarlierSubmissionThatFailsDoesNotWaitForTheOthers) {
  script_->run(true);
  EXPECT_TRUE(queue_->submit({{}, {commands()}, {{a_, 1}}}).ok());
  const auto c = std::make_shared<Semaphore>();
  EXPECT_TRUE(queue_->submit({{{a_, 1}, {b_, 1}}, {commands()}, {{c, 1}}}).ok());
  EXPECT_EQ(queue_->wait_idle(after(milliseconds(5))).code(), StatusCode::DeadlineExceeded);
  script_->work_error = lost();
  script_->run(false);
  EXPECT_EQ(c->wait(1).message(), "the device is lost");
  EXPECT_EQ(queue_->wait_idle().code(), StatusCode::DeviceError);
  EXPECT_EQ(script_->start_count(), 1);
}

TEST_F(Queues, WaitsAloneHoldUpWhatComesBehind) {
  EXPECT_TRUE(queue_->submit({{{a_, 1}}, {}, {}}).ok());
  EXPECT_TRUE(queue_->submit({{}, {commands()}, {{b_, 1}}}).ok());
  EXPECT_FALSE(b_->wait(1, after(milliseconds(10))).ok());
  EXPECT_EQ(script_->start_count(), 0);
  EXPECT_TRUE(a_->fail(lost()).ok());
  EXPECT_TRUE(b_->wait(1).ok());
  EXPECT_EQ(queue_->wait_idle().code(), StatusCode::DeviceError);
}

// Others' errors are told where nobody waits for them, and never taken for one's own.
TEST_F(Queues, WhoRunsWorkIsToldItsOwnError) {
  EXPECT_TRUE(queue_->submit({{{a_, 1}}, {commands()}, {}}).ok());
  EXPECT_TRUE(a_->fail(lost()).ok());
  const auto failed = std::make_shared<Semaphore>();
  EXPECT_TRUE(failed->fail(make_error(StatusCode::NotFound, "mine")).ok());
  EXPECT_EQ(queue_->run({{{failed, 1}}, {commands()}, {}}).message(), "mine");
  EXPECT_EQ(queue_->run({{}, {commands()}, {}}).message(), "the device is lost");
  EXPECT_TRUE(queue_->run({{}, {commands()}, {}}).ok());
  EXPECT_TRUE(queue_->wait_idle().ok());
}

// The device is never idle for want of the host: what the order already holds is no wait.
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

// What signals nothing is completed together; its errors are its own all the same.
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

// What failed to start signals nothing: what comes after it in the order is not started either.
TEST_F(Queues, NothingIsStartedBehindWhatDidNotStart) {
  script_->start_error = lost();
  EXPECT_TRUE(queue_->submit({{{b_, 1}}, {}, {{a_, 1}}}).ok());
  EXPECT_TRUE(queue_->submit({{{a_, 1}}, {commands()}, {}}).ok());
  EXPECT_TRUE(b_->fail(lost()).ok());
  EXPECT_EQ(queue_->wait_idle().message(), "the device is lost");
  EXPECT_EQ(script_->start_count(), 0);
}

// One of two waits fails, and the other never comes.
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
  EXPECT_TRUE(queue_->wait_idle().ok());  // told once
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

// Each queue waits for what the other signals, a hundred times; all is submitted at once.
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

TEST_F(Queues, AReleasedQueueFailsWhatStillWaits) {
  EXPECT_TRUE(queue_->submit({{}, {commands()}, {{b_, 1}}}).ok());
  EXPECT_TRUE(queue_->submit({{{a_, 1}}, {commands()}, {{b_, 2}}}).ok());
  queue_.reset();
  EXPECT_TRUE(b_->wait(1).ok());
  EXPECT_EQ(b_->wait(2).code(), StatusCode::Unavailable);
  EXPECT_EQ(script_->seen().size(), 1U);
  EXPECT_TRUE(a_->signal(1).ok());  // nobody is called any more
}

// The handle is released by a thread of the queue, which cannot wait for itself.
TEST_F(Queues, ACallbackMayReleaseTheQueue) {
  std::shared_ptr<Queue>* held = &queue_;
  a_->when_reached(1, [held](const Status&) { held->reset(); });
  const auto queue = queue_.get();
  EXPECT_TRUE(queue->submit({{}, {commands()}, {{a_, 1}, {b_, 1}}}).ok());
  EXPECT_TRUE(b_->wait(1).ok());
}

// The same by a thread that waits, which is in the middle of the work then.
// Where another thread is first, the handle stays: this one may not have begun to wait.
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

// Also where the work fails on the device, behind which the call was submitted.
TEST_F(Queues, NoHostCallIsMadeBehindAnError) {
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

// A process that ends with handles left: what was given to the driver is waited for, what waits for
// semaphores is not, and nothing more is taken.
TEST_F(QueuesDeathTest, TheEndOfTheProcessStopsThem) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto end = [&] {
    static std::shared_ptr<Queue> left = queue_;
    static const std::shared_ptr<Script> script = script_;
    script->run(true);
    EXPECT_TRUE(left->submit({{}, {commands()}, {{a_, 1}}}).ok());
    EXPECT_TRUE(left->submit({{{b_, 1}}, {commands()}, {}}).ok());
    static std::thread driver;
    std::atexit([] {  // called behind the queue's
      driver.join();
      std::fputs(left->is_idle() ? "idle." : "busy.", stderr);
      std::fputs(left->submit({{}, {}, {{std::make_shared<Semaphore>(), 1}}}).message().c_str(),
                 stderr);
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

TEST_F(Queues, AWaitMayEndBeforeTheWork) {
  script_->run(true);
  EXPECT_TRUE(queue_->submit({{}, {commands()}, {{a_, 1}}}).ok());
  EXPECT_EQ(queue_->wait_idle(after(milliseconds(10))).code(), StatusCode::DeadlineExceeded);
  EXPECT_EQ(queue_->wait_idle(after(milliseconds(-1))).code(), StatusCode::DeadlineExceeded);
  script_->run(false);
  EXPECT_TRUE(a_->wait(1).ok());  // by the queue's threads: nobody else waits for the queue
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
      const auto own = std::make_shared<Semaphore>();
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
