#include "runtime/builds/kernel_builds.h"

#include <algorithm>
#include <mutex>
#include <system_error>
#include <vector>

#include "support/threads/worker_threads.h"

namespace texloom::runtime {
namespace {

class Builds {
 public:
  explicit Builds(std::span<const std::shared_ptr<hal::Executable>> executables)
      : executables_(executables), is_done_(executables.size()), statuses_(executables.size()) {}
  Builds(const Builds&) = delete;
  Builds& operator=(const Builds&) = delete;
  ~Builds() { stop(); }  // cancels the builds that have not begun, if `goes_on` has thrown

  Status run(FunctionRef<bool(const KernelProgress&)> goes_on) {
    TL_RETURN_IF_ERROR(start());
    bool cancelled = false;
    threads_.wait([&] {
      if (goes_on(progress())) return;
      cancelled = true;
      stop();
    });
    for (Status& status : statuses_) TL_RETURN_IF_ERROR(std::move(status));
    return cancelled ? make_error(StatusCode::Cancelled, "the caller ended the build") : Status();
  }

 private:
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }

  Status start() {
    const std::size_t count = std::min<std::size_t>(machine_threads(), executables_.size());
    try {
      while (threads_.size() < count) threads_.start([this] { work(); });
    } catch (const std::system_error& error) {
      if (threads_.size() == 0)
        return make_error(StatusCode::Unavailable, "cannot create a thread to build kernels: {}",
                          error.what());
    }  // the threads that were created do all the builds
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
  }

  KernelProgress progress() {
    const std::lock_guard lock(mutex_);
    KernelProgress now{.total = is_done_.size()};
    now.done = static_cast<std::size_t>(std::count(is_done_.begin(), is_done_.end(), true));
    const auto first = std::find(is_done_.begin(), is_done_.end(), false) - is_done_.begin();
    now.current = std::min(static_cast<std::size_t>(first), is_done_.size() - 1);
    return now;
  }

  std::span<const std::shared_ptr<hal::Executable>> executables_;
  std::mutex mutex_;  // guards the members below, but for the threads
  std::vector<bool> is_done_;
  std::vector<Status> statuses_;
  std::size_t next_ = 0;
  bool stopped_ = false;
  WorkerThreads threads_;  // is destroyed first: they use the members above
};

}  // namespace

Status build_side_by_side(std::span<const std::shared_ptr<hal::Executable>> executables,
                          FunctionRef<bool(const KernelProgress&)> goes_on) {
  if (executables.empty()) return {};
  return Builds(executables).run(goes_on);
}

}  // namespace texloom::runtime
