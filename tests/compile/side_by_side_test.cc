#include "compile/side_by_side.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace texloom::compile {
namespace {

using namespace std::chrono_literals;

// Each number is worked on exactly once.
TEST(SideBySide, EachNumberOnce) {
  for (const std::size_t count : {0, 1, 2, 1000}) {
    std::vector<std::atomic<int>> calls(count);
    run_side_by_side(count, [&](std::size_t number, Interruption) { ++calls[number]; }, [] {});
    for (const auto& each : calls) EXPECT_EQ(each, 1);
  }
}

// The exception of failed work reaches the caller, and work that waits for an end is ended.
TEST(SideBySide, FailureEndsOtherWork) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two processors";
  const auto caller = std::this_thread::get_id();
  const auto work = [&](std::size_t, Interruption interruption) {
    if (std::this_thread::get_id() == caller) throw std::runtime_error("failed");
    while (true) interruption();
  };
  EXPECT_THROW(run_side_by_side(1000, work, [] {}), std::runtime_error);
}

// The caller's interruption is called on its own thread only, and ends everything by throwing.
TEST(SideBySide, CallerCanInterrupt) {
  const auto caller = std::this_thread::get_id();
  int calls = 0;
  const auto interruption = [&] {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    if (++calls == 3) throw std::runtime_error("interrupted");
  };
  const auto work = [](std::size_t, FunctionRef<void()> interrupted) {
    while (true) interrupted();
  };
  EXPECT_THROW(run_side_by_side(2, work, interruption), std::runtime_error);
}

// The caller hears an interruption also while it waits for the last work of other threads, and the
// interruption ends that work.
TEST(SideBySide, CallerCanInterruptItsWait) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two processors";
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> begun = false;
  const auto work = [&](std::size_t, FunctionRef<void()> interrupted) {
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    const bool is_caller = std::this_thread::get_id() == caller;
    begun = begun || !is_caller;
    while (std::chrono::steady_clock::now() < deadline && !(is_caller && begun))
      is_caller ? std::this_thread::yield() : interrupted();
  };
  const auto interruption = [&] { throw std::runtime_error("interrupted"); };
  EXPECT_THROW(run_side_by_side(2, work, interruption), std::runtime_error);
}

}  // namespace
}  // namespace texloom::compile
