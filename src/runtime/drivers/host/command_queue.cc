#include "runtime/drivers/host/command_queue.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/drivers/host/execution.h"
#include "runtime/drivers/host/memory.h"

namespace texloom::hal::host {

namespace {

// Receives the outcome of a submission.
struct Completion {
  std::mutex mutex;
  std::condition_variable changed;
  bool complete = false;
  Status status;
};

class HostWork final : public QueueBackend::Work {
 public:
  explicit HostWork(std::shared_ptr<Completion> completion) : completion_(std::move(completion)) {}

  bool is_complete() override {
    const std::scoped_lock lock(completion_->mutex);
    return completion_->complete;
  }

  Status wait() override {
    std::unique_lock lock(completion_->mutex);
    completion_->changed.wait(lock, [&] { return completion_->complete; });
    return std::move(completion_->status);
  }

 private:
  std::shared_ptr<Completion> completion_;
};

class HostQueue final : public QueueBackend {
 public:
  HostQueue(std::shared_ptr<Workers> workers, HostMemoryBlock scratch,
            std::shared_ptr<Profile> profile, std::string_view device)
      : workers_(std::move(workers)),
        scratch_(std::move(scratch)),
        profile_(std::move(profile)),
        track_(profile_ == nullptr ? 0 : profile_->add_device_track(device)) {}

  ~HostQueue() override {
    {
      const std::scoped_lock lock(mutex_);
      stopping_ = true;
      posted_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
  }

  Status start_thread() {
    try {
      thread_ = std::thread([this] { run_submissions(); });
    } catch (const std::system_error& error) {
      return make_error(StatusCode::Unavailable, "cannot create a thread for a queue: {}",
                        error.what());
    }
    return {};
  }

  Result<std::unique_ptr<Work>> start(const Batch& batch) override {
    auto completion = std::make_shared<Completion>();
    const std::scoped_lock lock(mutex_);
    submissions_.push_back({{batch.ranges.begin(), batch.ranges.end()}, completion});
    posted_.notify_all();
    return std::unique_ptr<Work>(std::make_unique<HostWork>(std::move(completion)));
  }

 private:
  struct Posted {
    std::vector<CommandRange> commands;
    std::shared_ptr<Completion> completion;
  };

  void run_submissions() {
    std::unique_lock lock(mutex_);
    while (true) {
      posted_.wait(lock, [&] { return stopping_ || !submissions_.empty(); });
      if (submissions_.empty()) return;
      Posted next = std::move(submissions_.front());
      submissions_.pop_front();
      lock.unlock();
      Status status = run(next.commands);
      {
        const std::scoped_lock completing(next.completion->mutex);
        next.completion->status = std::move(status);
        next.completion->complete = true;
        next.completion->changed.notify_all();
      }
      lock.lock();
    }
  }

  Status run(const std::vector<CommandRange>& commands) {
    for (const CommandRange& each : commands)
      TL_RETURN_IF_ERROR(
          run_commands(each, *workers_, {scratch_.get(), kScratchBytes}, profile_.get(), track_));
    return {};
  }

  std::shared_ptr<Workers> workers_;
  HostMemoryBlock scratch_;
  std::shared_ptr<Profile> profile_;  // may be null
  std::uint32_t track_;
  std::mutex mutex_;  // guards all below
  std::condition_variable posted_;
  std::deque<Posted> submissions_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<QueueBackend>> create_queue_backend(std::shared_ptr<Workers> workers,
                                                           std::shared_ptr<Profile> profile,
                                                           std::string_view device) {
  HostMemoryBlock scratch = allocate_aligned(kScratchBytes);
  if (scratch == nullptr)
    return make_error(StatusCode::OutOfMemory, "no scratch memory for a queue");
  auto queue = std::make_unique<HostQueue>(std::move(workers), std::move(scratch),
                                           std::move(profile), device);
  TL_RETURN_IF_ERROR(queue->start_thread());
  return std::unique_ptr<QueueBackend>(std::move(queue));
}

}  // namespace texloom::hal::host
