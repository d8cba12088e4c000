#include "support/threads/worker_threads.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

namespace texloom {
namespace {

constexpr std::size_t kStackBytes = std::size_t{8} << 20;
constexpr std::chrono::milliseconds kPollInterval(20);

class ThreadAttributes {
 public:
  ThreadAttributes() {
    pthread_attr_init(&attributes_);
    pthread_attr_setstacksize(&attributes_, kStackBytes);
  }
  ThreadAttributes(const ThreadAttributes&) = delete;
  ThreadAttributes& operator=(const ThreadAttributes&) = delete;
  ~ThreadAttributes() { pthread_attr_destroy(&attributes_); }

  const pthread_attr_t* get() const { return &attributes_; }

 private:
  pthread_attr_t attributes_;
};

}  // namespace

struct WorkerThreads::Thread {
  WorkerThreads& all;
  std::function<void()> work;
  pthread_t handle = {};
};

unsigned machine_threads() {
#ifdef __linux__
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    return static_cast<unsigned>(std::max(1, CPU_COUNT(&allowed)));
#endif
  return std::max(1U, std::thread::hardware_concurrency());
}

WorkerThreads::WorkerThreads() = default;

WorkerThreads::~WorkerThreads() {
  for (const auto& thread : threads_) pthread_join(thread->handle, nullptr);
}

void WorkerThreads::start(std::function<void()> work) {
  auto thread = std::make_unique<Thread>(Thread{*this, std::move(work)});
  threads_.reserve(threads_.size() + 1);
  const ThreadAttributes attributes;
  const std::lock_guard lock(mutex_);
  const int error = pthread_create(&thread->handle, attributes.get(), run, thread.get());
  if (error != 0) throw std::system_error(error, std::generic_category());
  ++working_;
  threads_.push_back(std::move(thread));
}

void* WorkerThreads::run(void* thread) {
  const Thread& self = *static_cast<Thread*>(thread);
  self.work();
  const std::lock_guard lock(self.all.mutex_);
  --self.all.working_;
  self.all.finished_.notify_one();
  return nullptr;
}

void WorkerThreads::wait(FunctionRef<void()> poll) {
  std::unique_lock lock(mutex_);
  while (!finished_.wait_for(lock, kPollInterval, [&] { return working_ == 0; })) {
    lock.unlock();
    poll();
    lock.lock();
  }
}

}  // namespace texloom
