#include "compile/side_by_side.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <utility>

#include "support/threads/worker_threads.h"

namespace texloom::compile {
namespace {

using Work = FunctionRef<void(std::size_t, Interruption)>;

// Ends work on a thread after the work of another thread has failed.
struct Stopped {};

class Workers {
 public:
  Workers(std::size_t count, Work work) : count_(count), work_(work) {}

  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() { stopped_ = true; }  // ends the work if creating the threads has failed

  void run(Interruption interruption) {
    start();
    work(interruption);
    wait(interruption);
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void start() {
    const std::size_t most = machine_threads();
    try {
      while (threads_.size() + 1 < std::min(most, count_)) {
        threads_.start([this] {
          work([this] {
            if (stopped_) throw Stopped();
          });
        });
      }
    } catch (const std::system_error&) {  // the threads that were created do all the work
    }
  }

  void work(Interruption interruption) {
    try {
      for (std::size_t number = next_++; number < count_ && !stopped_; number = next_++)
        work_(number, interruption);
    } catch (const Stopped&) {
    } catch (...) {
      fail(std::current_exception());
    }
  }

  // The caller has no more work.
  void wait(Interruption interruption) {
    try {
      threads_.wait([&] {
        if (!stopped_) interruption();
      });
    } catch (...) {
      fail(std::current_exception());
      threads_.wait([] {});
    }
  }

  void fail(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    stopped_ = true;
  }

  std::size_t count_;
  Work work_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::exception_ptr error_;  // guarded by mutex_
  WorkerThreads threads_;     // is destroyed first: they use the members above
};

}  // namespace

void run_side_by_side(std::size_t count, Work work, Interruption interruption) {
  Workers(count, work).run(interruption);
}

}  // namespace texloom::compile
