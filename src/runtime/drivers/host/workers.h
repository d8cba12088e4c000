// Threads that share the groups of a dispatch.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "support/function_ref.h"
#include "support/status.h"

namespace texloom::hal::host {

// Thread safe: several threads may call run() at a time, and share the workers.
class Workers {
 public:
  // Runs items [begin, end) with the scratch memory of the thread that calls it.
  using Part = FunctionRef<Status(std::uint64_t begin, std::uint64_t end, std::span<std::byte>)>;

  // `threads` besides those that call run(). Unavailable where the process may have no more;
  // OutOfMemory where there is no room for their scratch memory.
  static Result<std::shared_ptr<Workers>> create(unsigned threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Calls `part` for parts that make up [0, items), in several threads of which this is one, and
  // waits for them all. After an error no part is begun any more; the first one is returned.
  Status run(std::uint64_t items, std::span<std::byte> scratch, Part part);

 private:
  struct Job;

  Workers() = default;
  void work(std::span<std::byte> scratch);
  static void run_parts(Job& job, std::span<std::byte> scratch);

  std::mutex mutex_;  // of all below, and of what Job says
  std::condition_variable posted_, finished_;
  std::list<Job*> jobs_;  // of which parts are left
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace texloom::hal::host
