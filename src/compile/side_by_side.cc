#include "compile/side_by_side.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

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
  ~Workers() {
    stopped_ = true;  // ends the work if creating the threads has failed
    join();
  }

  void run(Interruption interruption) {
    start();
    work(interruption);
    join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  void start() {
    const std::size_t most = std::max(1U, std::thread::hardware_concurrency());
    try {
      while (threads_.size() + 1 < std::min(most, count_)) {
        threads_.emplace_back([this] {
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
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      stopped_ = true;
    }
  }

  std::size_t count_;
  Work work_;
  std::vector<std::thread> threads_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::exception_ptr error_;  // guarded by mutex_
};

}  // namespace

void run_side_by_side(std::size_t count, Work work, Interruption interruption) {
  Workers(count, work).run(interruption);
}

}  // namespace texloom::compile
