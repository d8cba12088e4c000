// Threads that work for the thread that starts them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "support/function_ref.h"

namespace texloom {

// How many threads the machine can run at the same time, at least 1.
unsigned machine_threads();

// Each thread has a stack of 8 MiB, as the main thread has on Linux and macOS, so that work may
// recurse as deeply on each thread. Without this, the stack may be 16 times (macOS) or 64 times
// (musl) smaller.
class WorkerThreads {
 public:
  WorkerThreads();
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;
  ~WorkerThreads();  // waits for all work

  // Calls `work`, which must not throw, on a new thread. Throws std::system_error if the system
  // cannot create the thread.
  void start(std::function<void()> work);
  std::size_t size() const { return threads_.size(); }

  // Returns when all work has returned. Until then, calls `poll` every 20 ms on the calling thread:
  // to hear Ctrl-C, or to show the progress. An exception of `poll` ends the wait, not the work.
  void wait(FunctionRef<void()> poll);

 private:
  struct Thread;
  static void* run(void* thread);

  std::vector<std::unique_ptr<Thread>> threads_;
  std::mutex mutex_;
  std::condition_variable finished_;
  std::size_t working_ = 0;  // how many threads have not finished their work; guarded by mutex_
};

}  // namespace texloom
