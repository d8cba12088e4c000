// Tests building at first use, with fake executables.
#include "runtime/hal/executable.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/runtime/status_matchers.h"

namespace texloom::hal {
namespace {

// Several threads use one executable: it is built once, and each thread gets the build's status.
TEST(Executable, IsBuiltOnceByManyThreads) {
  class Counting final : public Executable {
   public:
    explicit Counting(Status outcome)
        : Executable(std::make_shared<const DeviceInfo>(), {}), outcome_(std::move(outcome)) {}
    int builds() const { return builds_; }

   private:
    Status build() override {
      ++builds_;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      return outcome_;
    }
    Status outcome_;
    std::atomic<int> builds_ = 0;
  };
  for (const Status& outcome : {Status(), make_error(StatusCode::BuildFailed, "no")}) {
    Counting executable(outcome);
    std::vector<std::thread> threads;
    std::atomic<int> right = 0;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] { right += executable.prepare().code() == outcome.code() ? 1 : 0; });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(executable.builds(), 1);
    EXPECT_EQ(right, 8);
  }
}

}  // namespace
}  // namespace texloom::hal
