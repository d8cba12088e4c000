// Tests building several executables at once, with fake executables.
#include "runtime/builds/kernel_builds.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "tests/runtime/status_matchers.h"

namespace texloom::runtime {
namespace {

using hal::fails_with;
using namespace std::chrono_literals;

class Scripted final : public hal::Executable {
 public:
  explicit Scripted(std::function<Status()> script)
      : Executable(std::make_shared<const hal::DeviceInfo>(), {}), script_(std::move(script)) {}

 private:
  Status build() override { return script_(); }
  std::function<Status()> script_;
};

std::vector<std::shared_ptr<hal::Executable>> scripted(
    const std::vector<std::function<Status()>>& scripts) {
  std::vector<std::shared_ptr<hal::Executable>> made;
  for (const auto& script : scripts) made.push_back(std::make_shared<Scripted>(script));
  return made;
}

constexpr auto kAlways = [](const KernelProgress&) { return true; };

// Each build waits until the other one has begun, so neither ends if they run in sequence.
TEST(KernelBuilds, RunSideBySide) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one thread";
  std::atomic<int> begun = 0;
  const auto meets = [&]() -> Status {
    ++begun;
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (begun < 2 && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(1ms);
    return begun == 2 ? Status() : make_error(StatusCode::BuildFailed, "alone");
  };
  TL_EXPECT_OK(build_side_by_side(scripted({meets, meets}), kAlways));
}

TEST(KernelBuilds, ReturnTheErrorOfTheFirstThatFails) {
  const auto fails = [](const char* why) {
    return [why]() -> Status { return make_error(StatusCode::BuildFailed, "{}", why); };
  };
  EXPECT_THAT(build_side_by_side(scripted({fails("one"), fails("two")}), kAlways),
              fails_with(StatusCode::BuildFailed, "one"));
  TL_EXPECT_OK(build_side_by_side({}, kAlways));
}

// A hundred builds. Each build that has begun lasts until `may_end_` is set.
class KernelBuildsEnd : public ::testing::Test {
 protected:
  KernelBuildsEnd() {
    executables_ = scripted(std::vector<std::function<Status()>>(100, [this]() -> Status {
      ++begun_;
      while (!may_end_) std::this_thread::sleep_for(1ms);
      return {};
    }));
  }

  std::vector<std::shared_ptr<hal::Executable>> executables_;
  std::atomic<int> begun_ = 0;
  std::atomic<bool> may_end_ = false;
};

// After a refusal, running builds are awaited, and no other builds begin. The running builds end
// when the caller is asked again, so the refusal is certainly in effect by then.
TEST_F(KernelBuildsEnd, WhenTheCallerSaysSo) {
  bool is_asked_again = false;
  const auto stops = [&](const KernelProgress& now) {
    EXPECT_EQ(now.total, 100U);
    EXPECT_EQ(now.current, now.done);
    may_end_ = std::exchange(is_asked_again, true);
    return false;
  };
  EXPECT_THAT(build_side_by_side(executables_, stops), fails_with(StatusCode::Cancelled, "ended"));
  EXPECT_LE(begun_, static_cast<int>(std::thread::hardware_concurrency()));
}

// The builds end a second after the caller threw: earlier ends would let further builds begin.
TEST_F(KernelBuildsEnd, WhenTheCallerThrows) {
  std::jthread release;
  const auto throws = [&](const KernelProgress&) -> bool {
    release = std::jthread([this] {
      std::this_thread::sleep_for(1s);
      may_end_ = true;
    });
    throw std::runtime_error("no more");
  };
  EXPECT_THROW(static_cast<void>(build_side_by_side(executables_, throws)), std::runtime_error);
  EXPECT_TRUE(may_end_);
  EXPECT_LE(begun_, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace
}  // namespace texloom::runtime
