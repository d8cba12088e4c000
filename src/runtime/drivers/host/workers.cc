#include "runtime/drivers/host/workers.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "runtime/drivers/host/memory.h"

namespace texloom::hal::host {

namespace {

// A part is this fraction of a thread's share of what is left, so that threads end together.
constexpr std::uint64_t kPartsOfShare = 2;

// How many workers are woken up on other processors than the caller's, by two system calls each:
// among more, those that start late matter less.
constexpr unsigned kMostMoved = 8;

// For how long a thread polls before it sleeps: longer than kernels run that are not shared, so
// that it is awake for the next one that is. MobileNetV3 took 6.3 ms with 50 us, and 3.7 since.
constexpr std::chrono::microseconds kBusy(500);

// Polls for a moment; returns whether the condition holds.
template <typename Condition>
bool holds_soon(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + kBusy;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  return true;
}

}  // namespace

struct Workers::Job {
  std::uint64_t items;
  std::uint64_t shares;  // threads that may take part
  Part part;
  std::atomic<std::uint64_t> next = 0;  // the first item that no thread has taken
  std::atomic<bool> failed = false;
  std::mutex error_mutex;
  Status error;
  std::atomic<unsigned> threads = 0;  // besides the caller; changed under the workers' mutex
};

Result<std::shared_ptr<Workers>> Workers::create(unsigned threads) {
  std::shared_ptr<Workers> workers(new Workers());
  for (unsigned i = 0; i < threads; ++i) {
    HostMemoryBlock scratch = allocate_aligned(kScratchBytes);
    if (scratch == nullptr)
      return make_error(StatusCode::OutOfMemory, "no scratch memory for thread {}", i);
    try {
      Thread& own = workers->threads_.emplace_back();
      own.thread = std::thread([&each = *workers, &own, memory = std::move(scratch)] {
        each.work(own, {memory.get(), kScratchBytes});
      });
    } catch (const std::system_error& error) {
      workers->threads_.pop_back();
      return make_error(StatusCode::Unavailable, "cannot create a thread for the host driver: {}",
                        error.what());
    }
  }
  return workers;
}

Workers::~Workers() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    posted_.notify_all();
  }
  for (Thread& each : threads_) each.thread.join();
}

void Workers::run_parts(Job& job, std::span<std::byte> scratch) {
  while (!job.failed.load(std::memory_order_relaxed)) {
    std::uint64_t begin = job.next.load(std::memory_order_relaxed), end = 0;
    do {
      if (begin >= job.items) return;
      end = begin + std::max<std::uint64_t>((job.items - begin) / (kPartsOfShare * job.shares), 1);
    } while (!job.next.compare_exchange_weak(begin, end, std::memory_order_relaxed));
    Status status = job.part(begin, end, scratch);
    if (status.ok()) continue;
    const std::scoped_lock lock(job.error_mutex);
    if (!job.failed.exchange(true)) job.error = std::move(status);
  }
}

void Workers::work(Thread& own, std::span<std::byte> scratch) {
  std::unique_lock lock(mutex_);
  own.number = current_thread();
  while (true) {
    await_job(own, lock);
    if (stopping_) return;
    Job& job = *jobs_.front();
    ++job.threads;
    lock.unlock();
    run_parts(job, scratch);
    lock.lock();
    jobs_.remove(&job);  // the job has no parts left to start
    if (--job.threads == 0) finished_.notify_all();
  }
}

// Returns when there is a job, or the workers stop.
void Workers::await_job(Thread& own, std::unique_lock<std::mutex>& lock) {
  const std::uint64_t seen = posts_.load();
  if (!stopping_ && jobs_.empty()) {
    lock.unlock();
    holds_soon([&] { return posts_.load(std::memory_order_relaxed) != seen; });
    lock.lock();
  }
  while (!stopping_ && jobs_.empty()) {
    own.is_asleep = true;
    ++sleepers_;
    posted_.wait(lock);
    if (std::exchange(own.is_asleep, false)) --sleepers_;
    if (std::exchange(own.is_kept_off, false)) (void)own.usual.apply_to(own.number);
  }
}

// The system may wake a thread up on the busy processor of the thread that wakes it, although
// others are idle (Linux: those that share no cache with it), and move it milliseconds later.
void Workers::wake_all() {
  if (sleepers_ == 0) return;
  sleepers_ = 0;
  unsigned woken = 0;
  for (Thread& each : threads_) {
    if (!std::exchange(each.is_asleep, false)) continue;
    const bool may_move = ++woken <= kMostMoved && !each.is_kept_off;
    const int processor = may_move ? current_processor() : -1;
    if (processor < 0) continue;
    each.usual = Affinity::of(each.number);
    const Affinity others = each.usual.without(processor);
    each.is_kept_off = !others.is_empty() && others.apply_to(each.number);
  }
  posted_.notify_all();
}

Status Workers::run(std::uint64_t items, std::span<std::byte> scratch, Part part) {
  if (threads_.empty() || items <= 1) return items == 0 ? Status() : part(0, items, scratch);
  Job job{
      .items = items, .shares = threads_.size() + 1, .part = part, .error_mutex = {}, .error = {}};
  {
    const std::scoped_lock lock(mutex_);
    jobs_.push_back(&job);
    ++posts_;
    wake_all();
  }
  run_parts(job, scratch);
  std::unique_lock lock(mutex_);
  jobs_.remove(&job);
  lock.unlock();
  holds_soon([&] { return job.threads == 0; });
  lock.lock();
  finished_.wait(lock, [&] { return job.threads == 0; });
  return std::move(job.error);
}

}  // namespace texloom::hal::host
