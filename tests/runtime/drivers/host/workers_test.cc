#include "runtime/drivers/host/workers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "runtime/drivers/host/affinity.h"

namespace texloom::hal::host {
namespace {

#if defined(__linux__)

TEST(Affinity, OfAThreadIsThatWithoutAProcessorUntilItIsAppliedAgain) {
  const int thread = current_thread(), processor = current_processor();
  ASSERT_GE(processor, 0);
  const Affinity usual = Affinity::of(thread);
  ASSERT_FALSE(usual.is_empty());
  const Affinity others = usual.without(processor);
  if (others.is_empty()) GTEST_SKIP() << "the process has one processor";
  ASSERT_TRUE(others.apply_to(thread));
  EXPECT_NE(current_processor(), processor);
  EXPECT_TRUE(Affinity::of(thread).without(processor).apply_to(thread));
  ASSERT_TRUE(usual.apply_to(thread));
  EXPECT_FALSE(Affinity::of(thread).is_empty());
}

#endif

// Runs items on workers that sleep before, and returns how often each item ran.
std::vector<int> runs_of_items(Workers& workers, std::uint64_t items) {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  std::vector<std::atomic<int>> counts(items);
  const Status status =
      workers.run(items, {}, [&](std::uint64_t begin, std::uint64_t end, std::span<std::byte>) {
        for (std::uint64_t i = begin; i < end; ++i) ++counts[i];
        return Status();
      });
  EXPECT_TRUE(status.ok());
  return {counts.begin(), counts.end()};
}

TEST(Workers, RunEachItemOnceForSeveralCallers) {
  const auto workers = Workers::create(3);
  ASSERT_TRUE(workers.ok());
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (const std::uint64_t items : {0, 1, 2, 7, 37, 1000})
        EXPECT_EQ(runs_of_items(**workers, items), std::vector<int>(items, 1)) << items;
    });
  }
  for (std::thread& each : callers) each.join();
}

#if defined(__linux__)

// The processors that workers may use while they run items.
std::set<bool> may_use(Workers& workers, int processor) {
  std::mutex mutex;
  std::set<bool> found;
  const int caller = current_thread();
  const Status status =
      workers.run(64, {}, [&](std::uint64_t, std::uint64_t, std::span<std::byte>) {
        const Affinity own = Affinity::of(current_thread());
        const std::scoped_lock lock(mutex);
        if (current_thread() != caller) found.insert(own.without(processor).is_empty());
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        return Status();
      });
  EXPECT_TRUE(status.ok());
  return found;
}

TEST(Workers, HaveTheirOwnAffinityWhenTheyWork) {
  const auto workers = Workers::create(1);
  ASSERT_TRUE(workers.ok());
  const Affinity usual = Affinity::of(current_thread());
  const int processor = current_processor();
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));  // the worker sleeps
    // With one processor there are no others; else the worker has others, too.
    EXPECT_FALSE(may_use(**workers, processor).contains(!usual.without(processor).is_empty()));
  }
}

#endif

}  // namespace
}  // namespace texloom::hal::host
