#include "runtime/builds/kernel_builds.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace texloom::runtime {
namespace {

class Builds {
 public:
  explicit Builds(std::span<const std::shared_ptr<hal::Executable>> executables)
      : executables_(executables), is_done_(executables.size()), statuses_(executables.size()) {}
  Builds(const Builds&) = delete;
  Builds& operator=(const Builds&) = delete;
  ~Builds() {
    stop();  // cancels the builds that have not begun, if `goes_on` has thrown
    for (std::thread& thread : threads_) thread.join();
  }

  Status run(FunctionRef<bool(const KernelProgress&)> goes_on) {
    TL_RETURN_IF_ERROR(start());
    bool cancelled = false;
    std::unique_lock lock(mutex_);
    while (
        !finished_.wait_for(lock, std::chrono::milliseconds(20), [&] { return working_ == 0; })) {
      const KernelProgress now = progress();
      lock.unlock();
      if (!goes_on(now)) {
        cancelled = true;
        stop();
      }
      lock.lock();
    }
    for (Status& status : statuses_) TL_RETURN_IF_ERROR(std::move(status));
    return cancelled ? make_error(StatusCode::Cancelled, "the caller ended the build") : Status();
  }

 private:
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }

  Status start() {
    const std::size_t most = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t count = std::min(most, executables_.size());
    for (std::size_t i = 0; i < count; ++i) {
      const std::lock_guard lock(mutex_);
      try {
        threads_.emplace_back([this] { work(); });
      } catch (const std::system_error& error) {
        if (i > 0) return {};  // the threads that were created do all the builds
        return make_error(StatusCode::Unavailable, "cannot create a thread to build kernels: {}",
                          error.what());
      }
      ++working_;
    }
    return {};
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (next_ < executables_.size() && !stopped_) {
      const std::size_t place = next_++;
      lock.unlock();
      Status status = executables_[place]->prepare();
      lock.lock();
      stopped_ |= !status.ok();
      statuses_[place] = std::move(status);
      is_done_[place] = true;
    }
    --working_;
    finished_.notify_one();
  }

  // Called with the mutex held.
  KernelProgress progress() const {
    KernelProgress now{.total = is_done_.size()};
    now.done = static_cast<std::size_t>(std::count(is_done_.begin(), is_done_.end(), true));
    const auto first = std::find(is_done_.begin(), is_done_.end(), false) - is_done_.begin();
    now.current = std::min(static_cast<std::size_t>(first), is_done_.size() - 1);
    return now;
  }

  std::span<const std::shared_ptr<hal::Executable>> executables_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;  // guards all below
  std::condition_variable finished_;
  std::vector<bool> is_done_;
  std::vector<Status> statuses_;
  std::size_t next_ = 0;
  std::size_t working_ = 0;  // threads
  bool stopped_ = false;
};

}  // namespace

Status build_side_by_side(std::span<const std::shared_ptr<hal::Executable>> executables,
                          FunctionRef<bool(const KernelProgress&)> goes_on) {
  if (executables.empty()) return {};
  return Builds(executables).run(goes_on);
}

}  // namespace texloom::runtime
