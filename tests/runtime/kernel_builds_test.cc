// Tests building several executables at once, with executables that compile nothing.
#include "runtime/kernel_builds.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
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

// Each waits until the other has begun.
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

// What has begun is waited for; what has not, is not begun.
TEST(KernelBuilds, EndWhenTheCallerSaysSo) {
  std::atomic<int> begun = 0;
  std::atomic<bool> may_end = false;
  std::vector<std::function<Status()>> scripts(100, [&]() -> Status {
    ++begun;
    while (!may_end) std::this_thread::sleep_for(1ms);
    return {};
  });
  const auto executables = scripted(scripts);
  std::thread release;
  const auto stops = [&](const KernelProgress& now) {
    EXPECT_EQ(now.total, 100U);
    EXPECT_EQ(now.current, now.done);
    // After the answer: builds that end before it would be followed by others.
    if (!release.joinable()) {
      release = std::thread([&] {
        std::this_thread::sleep_for(100ms);
        may_end = true;
      });
    }
    return false;
  };
  EXPECT_THAT(build_side_by_side(executables, stops),
              fails_with(StatusCode::Unavailable, "interrupted"));
  release.join();
  EXPECT_LE(begun, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace
}  // namespace texloom::runtime
