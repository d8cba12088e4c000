// A fixture for tests of queues, with a mock driver that a test controls step by step.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/hal/internal/recording/arena.h"
#include "runtime/hal/queue.h"

namespace texloom::hal {

// The test's instructions to the driver, and a record of the calls to the driver.
struct Script {
  std::mutex mutex;
  std::condition_variable changed;
  bool held = false;     // whether calls of start() block
  bool running = false;  // started work does not complete yet
  bool waits_natively = false;
  Status start_error, work_error;
  int starts = 0;
  int waits = 0;                          // waits for work that have begun
  std::vector<std::size_t> finished;      // per work, its number of command buffers
  std::vector<std::size_t> native_waits;  // per start, the points that the device waits for
  int scopes = 0;                         // scopes entered
  int open_scopes = 0;                    // scopes not yet left
  int calls_outside = 0;                  // driver calls outside a scope

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
  // Returns whether the condition becomes true before the deadline.
  bool becomes(const std::function<bool(const Script&)>& true_of) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(10), [&] { return true_of(*this); });
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

  Result<std::unique_ptr<Work>> start(const Batch& batch) override {
    std::unique_lock lock(script_->mutex);
    if (script_->open_scopes == 0) ++script_->calls_outside;
    ++script_->starts;
    script_->native_waits.push_back(batch.waits.size());
    script_->changed.notify_all();
    script_->changed.wait(lock, [&] { return !script_->held; });
    if (!script_->start_error.ok()) return script_->start_error;
    return std::unique_ptr<Work>(std::make_unique<ScriptedWork>(script_, batch.ranges.size()));
  }
  bool can_wait(const TimelinePoint&) const override {
    const std::scoped_lock lock(script_->mutex);
    return script_->waits_natively;
  }
  std::unique_ptr<Scope> enter() override { return std::make_unique<ScriptedScope>(script_); }

 private:
  class ScriptedScope final : public Scope {
   public:
    explicit ScriptedScope(std::shared_ptr<Script> script) : script_(std::move(script)) {
      const std::scoped_lock lock(script_->mutex);
      ++script_->scopes;
      ++script_->open_scopes;
    }
    ~ScriptedScope() override {
      const std::scoped_lock lock(script_->mutex);
      --script_->open_scopes;
    }

   private:
    std::shared_ptr<Script> script_;
  };

  class ScriptedWork final : public Work {
   public:
    ~ScriptedWork() override {
      const std::scoped_lock lock(script_->mutex);
      if (script_->open_scopes == 0) ++script_->calls_outside;
    }
    ScriptedWork(std::shared_ptr<Script> script, std::size_t count)
        : script_(std::move(script)), count_(count) {}
    bool is_complete() override {
      const std::scoped_lock lock(script_->mutex);
      return !script_->running;
    }
    Status wait() override {
      std::unique_lock lock(script_->mutex);
      ++script_->waits;
      if (script_->open_scopes == 0) ++script_->calls_outside;
      script_->changed.notify_all();
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

inline Status lost() { return make_error(StatusCode::DeviceError, "the device is lost"); }

class Queues : public ::testing::Test {
 protected:
  std::shared_ptr<Queue> make_queue(const std::shared_ptr<Script>& script) const {
    auto queue = Queue::create(info_, std::make_unique<ScriptedBackend>(script));
    EXPECT_TRUE(queue.ok());
    return *queue;
  }
  std::shared_ptr<const CommandBuffer> commands() const {
    auto made = std::make_shared<CommandBuffer>(info_, memory_);
    const std::array<std::byte, 4> data = {};
    EXPECT_TRUE(made->update(std::make_shared<PlainBuffer>(info_), 0, data).ok());
    EXPECT_TRUE(made->finish().ok());
    return made;
  }

  // Makes device commands, a host call, and more device commands.
  std::shared_ptr<const CommandBuffer> commands_around(std::function<Status()> call) const {
    auto made = std::make_shared<CommandBuffer>(info_, memory_);
    const auto buffer = std::make_shared<PlainBuffer>(info_);
    const std::array<std::byte, 4> data = {};
    EXPECT_TRUE(made->update(buffer, 0, data).ok());
    EXPECT_TRUE(made->host_call(std::move(call)).ok());
    EXPECT_TRUE(made->update(buffer, 0, data).ok());
    EXPECT_TRUE(made->finish().ok());
    return made;
  }
  std::shared_ptr<const CommandBuffer> host_call(std::function<Status()> call) const {
    auto made = std::make_shared<CommandBuffer>(info_, memory_);
    EXPECT_TRUE(made->host_call(std::move(call)).ok());
    EXPECT_TRUE(made->finish().ok());
    return made;
  }

  std::shared_ptr<const DeviceInfo> info_ = std::make_shared<const DeviceInfo>();
  std::shared_ptr<ArenaBlocks> memory_ = std::make_shared<ArenaBlocks>();
  std::shared_ptr<Script> script_ = std::make_shared<Script>();
  std::shared_ptr<Queue> queue_ = make_queue(script_);
  std::shared_ptr<Semaphore> a_ = Semaphore::create();
  std::shared_ptr<Semaphore> b_ = Semaphore::create();
};

}  // namespace texloom::hal
