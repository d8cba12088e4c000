// Tests the stacks of threads, and waiting for them.
#include "support/threads/worker_threads.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <stdexcept>

namespace texloom {
namespace {

// Uses this many KiB of the stack.
int recurse(int kilobytes) {
  volatile char frame[1024];
  frame[0] = static_cast<char>(kilobytes);
  return kilobytes == 0 ? frame[0] : recurse(kilobytes - 1) + frame[0] - frame[0];
}

#ifdef __GLIBC__
// The system's default, here that of musl, does not limit the recursion of work.
TEST(WorkerThreads, StacksAreAsLongAsThoseOfMainThreads) {
  pthread_attr_t before, small;
  ASSERT_EQ(pthread_getattr_default_np(&before), 0);
  ASSERT_EQ(pthread_attr_init(&small), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&small, 128 << 10), 0);
  ASSERT_EQ(pthread_setattr_default_np(&small), 0);
  int result = -1;
  {
    WorkerThreads threads;
    threads.start([&] { result = recurse(6 << 10); });
  }
  ASSERT_EQ(pthread_setattr_default_np(&before), 0);
  EXPECT_EQ(result, 0);
}
#endif

// An exception of the caller ends its wait; the work goes on, and can be awaited again.
TEST(WorkerThreads, PollMayThrow) {
  std::atomic<bool> may_end = false, ended = false;
  WorkerThreads threads;
  threads.start([&] {
    may_end.wait(false);
    ended = true;
  });
  EXPECT_THROW(threads.wait([] { throw std::runtime_error("enough"); }), std::runtime_error);
  EXPECT_FALSE(ended);
  may_end = true;
  may_end.notify_one();
  threads.wait([] {});
  EXPECT_TRUE(ended);
}

TEST(WorkerThreads, NothingToWaitFor) {
  WorkerThreads threads;
  threads.wait([] { ADD_FAILURE() << "nothing to wait for"; });
}

}  // namespace
}  // namespace texloom
