// Tests handlers that run at process exit; each test uses a separate process.
#include "runtime/hal/internal/submission/exit_handlers.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace texloom::hal {
namespace {

void say(const char* what) { std::fputs(what, stderr); }

class ExitHandlersDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  std::shared_ptr<int> owner_ = std::make_shared<int>(1);
};

TEST_F(ExitHandlersDeathTest, AreCalledBeforeThoseOfTheSystemThatWereThere) {
  const auto end = [&] {
    std::atexit([] { say("system 1."); });
    call_at_exit(owner_, [] { say("first."); });
    std::atexit([] { say("system 2."); });
    call_at_exit(owner_, [] { say("second."); });
    std::exit(3);
  };
  EXPECT_EXIT(end(), ::testing::ExitedWithCode(3), "^second\\.first\\.system 2\\.system 1\\.$");
}

TEST_F(ExitHandlersDeathTest, OfWhatIsGoneAreNotCalled) {
  const auto end = [&] {
    call_at_exit(owner_, [] { say("first."); });
    call_at_exit(std::make_shared<int>(2), [] { say("second."); });
    std::exit(3);
  };
  EXPECT_EXIT(end(), ::testing::ExitedWithCode(3), "^first\\.$");
}

TEST_F(ExitHandlersDeathTest, AreNotCalledInAForkedChild) {
  const auto end = [&] {
    call_at_exit(owner_, [] { say("called."); });
    const pid_t child = ::fork();
    if (child == 0) std::exit(4);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 4) say("child.");
    std::exit(3);
  };
  EXPECT_EXIT(end(), ::testing::ExitedWithCode(3), "^child\\.called\\.$");
}

}  // namespace
}  // namespace texloom::hal
