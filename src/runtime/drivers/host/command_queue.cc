#include "runtime/drivers/host/command_queue.h"

#include <chrono>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/drivers/host/execution.h"
#include "runtime/drivers/host/memory.h"

namespace texloom::hal::host {

namespace {

// For how long a call of Work::is_complete() runs commands.
constexpr std::chrono::milliseconds kMoment(20);

// The commands of one submission, and their outcome.
struct Posted {
  std::vector<Execution> executions;
  std::size_t next = 0;  // the execution that is not complete
  bool is_complete = false;
  Status status;

  void end(Status result) {
    status = std::move(result);
    is_complete = true;
    executions.clear();
  }
};

// The submissions that are not complete, in order. Thread safe; one thread at a time runs commands.
class Submissions {
 public:
  Submissions(std::shared_ptr<Workers> workers, HostMemoryBlock scratch,
              std::shared_ptr<Profile> profile, std::string_view device)
      : workers_(std::move(workers)),
        scratch_(std::move(scratch)),
        profile_(std::move(profile)),
        track_(profile_ == nullptr ? 0 : profile_->add_device_track(device)) {}

  std::shared_ptr<Posted> post(std::span<const CommandRange> ranges) {
    auto posted = std::make_shared<Posted>();
    for (const CommandRange& each : ranges)
      posted->executions.emplace_back(each, *workers_, profile_.get(), track_);
    const std::scoped_lock lock(mutex_);
    pending_.push_back(posted);
    return posted;
  }

  // Runs everything up to a submission.
  Status run(const Posted& last) {
    const std::scoped_lock lock(running_);
    while (!last.is_complete) {
      Posted& front = first();
      Status status;
      for (; front.next < front.executions.size() && status.ok(); ++front.next)
        status = front.executions[front.next].run(scratch());
      complete(front, std::move(status));
    }
    return last.status;
  }

  // Runs brief commands for a moment; returns whether a submission is complete.
  bool run_for_a_moment(const Posted& last) {
    const std::scoped_lock lock(running_);
    const ProfileClock::time_point deadline = ProfileClock::now() + kMoment;
    while (!last.is_complete) {
      Posted& front = first();
      if (front.next == front.executions.size()) {
        complete(front, {});
        continue;
      }
      const Result<bool> done = front.executions[front.next].run_until(deadline, scratch());
      if (!done.ok()) {
        complete(front, done.status());
      } else if (*done) {
        ++front.next;
      } else {
        return false;
      }
    }
    return true;
  }

 private:
  Posted& first() {
    const std::scoped_lock lock(mutex_);
    return *pending_.front();
  }
  void complete(Posted& front, Status status) {
    front.end(std::move(status));
    const std::scoped_lock lock(mutex_);
    pending_.pop_front();
  }
  std::span<std::byte> scratch() const { return {scratch_.get(), kScratchBytes}; }

  std::shared_ptr<Workers> workers_;
  HostMemoryBlock scratch_;           // of the thread that runs commands
  std::shared_ptr<Profile> profile_;  // may be null
  std::uint32_t track_;
  std::mutex running_;  // held by the thread that runs commands; guards what is posted
  std::mutex mutex_;    // guards pending_
  std::deque<std::shared_ptr<Posted>> pending_;
};

class HostWork final : public QueueBackend::Work {
 public:
  HostWork(std::shared_ptr<Submissions> submissions, std::shared_ptr<const Posted> posted)
      : submissions_(std::move(submissions)), posted_(std::move(posted)) {}

  bool is_complete() override { return submissions_->run_for_a_moment(*posted_); }
  Status wait() override { return submissions_->run(*posted_); }

 private:
  std::shared_ptr<Submissions> submissions_;
  std::shared_ptr<const Posted> posted_;
};

class HostQueue final : public QueueBackend {
 public:
  explicit HostQueue(std::shared_ptr<Submissions> submissions)
      : submissions_(std::move(submissions)) {}

  Result<std::unique_ptr<Work>> start(const Batch& batch) override {
    return std::unique_ptr<Work>(
        std::make_unique<HostWork>(submissions_, submissions_->post(batch.ranges)));
  }

 private:
  std::shared_ptr<Submissions> submissions_;
};

}  // namespace

Result<std::unique_ptr<QueueBackend>> create_queue_backend(std::shared_ptr<Workers> workers,
                                                           std::shared_ptr<Profile> profile,
                                                           std::string_view device) {
  HostMemoryBlock scratch = allocate_aligned(kScratchBytes);
  if (scratch == nullptr)
    return make_error(StatusCode::OutOfMemory, "no scratch memory for a queue");
  return std::unique_ptr<QueueBackend>(std::make_unique<HostQueue>(std::make_shared<Submissions>(
      std::move(workers), std::move(scratch), std::move(profile), device)));
}

}  // namespace texloom::hal::host
