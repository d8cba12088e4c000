// Worker threads that share the groups of a dispatch.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

#include "runtime/drivers/host/affinity.h"
#include "support/function_ref.h"
#include "support/status.h"

namespace texloom::hal::host {

// Thread safe: several threads may call run() concurrently and share the workers.
class Workers {
 public:
  // Runs items [begin, end) with the scratch memory of the calling thread.
  using Part = FunctionRef<Status(std::uint64_t begin, std::uint64_t end, std::span<std::byte>)>;

  // Creates `threads` threads besides those that call run(). Unavailable if the process cannot
  // create more threads; OutOfMemory if there is no memory for their scratch.
  static Result<std::shared_ptr<Workers>> create(unsigned threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Calls `part` for disjoint parts of [0, items) on several threads, including this one, and waits
  // for all of them. After an error no further part is started; the first error is returned.
  Status run(std::uint64_t items, std::span<std::byte> scratch, Part part);

 private:
  struct Job;
  struct Thread {
    std::thread thread;
    int number = -1;           // the system's
    bool is_asleep = false;    // waits for posted_, and was not notified
    bool is_kept_off = false;  // may not use the processor of the thread that woke it
    Affinity usual = {};       // what it may use otherwise; only valid while it is kept off
  };

  Workers() = default;
  void work(Thread& own, std::span<std::byte> scratch);
  void await_job(Thread& own, std::unique_lock<std::mutex>& lock);
  void wake_all();
  static void run_parts(Job& job, std::span<std::byte> scratch);

  // The jobs that were ever posted. A thread that has just finished a job watches it for a moment
  // before it sleeps, because networks post a job after the other.
  std::atomic<std::uint64_t> posts_ = 0;
  std::mutex mutex_;  // guards all below, and the members of Job that say so, and of Thread
  std::condition_variable posted_, finished_;
  std::list<Job*> jobs_;   // jobs with parts left to start
  unsigned sleepers_ = 0;  // threads that are asleep
  bool stopping_ = false;
  std::list<Thread> threads_;
};

}  // namespace texloom::hal::host
