// Tests that captures contain the work of a device, and that refusals say why.
#include "runtime/drivers/metal/api/capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/runtime/drivers/metal/device_test.h"
#include "tests/runtime/status_matchers.h"
#include "tests/softmetal/api/classes/checks/faults.h"

namespace texloom::hal::metal {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Captures : public DeviceTest {
 protected:
  void SetUp() override {
    setenv("METAL_CAPTURE_ENABLED", "1", 1);
    path = std::filesystem::temp_directory_path() /
           ("texloom" + std::to_string(getpid()) + ".gputrace");
  }
  void TearDown() override {
    unsetenv("METAL_CAPTURE_ENABLED");
    std::filesystem::remove_all(path);
  }
  std::string calls() const {
    std::stringstream text;
    text << std::ifstream(path / "calls.txt").rdbuf();
    return text.str();
  }
  void run_add(std::size_t ordinal) {
    open({}, ordinal);
    expect_that_it_adds(add_desc());
  }

  std::filesystem::path path;
};

TEST_F(Captures, HaveWhatTheDeviceRuns) {
  TL_ASSERT_OK(start_capture(0, path));
  run_add(0);
  stop_capture();
  EXPECT_THAT(calls(), HasSubstr("the kernel is \"add\""));
  EXPECT_THAT(calls(), HasSubstr("the command buffer: commit"));
}

TEST_F(Captures, AreOfOneDevice) {
  TL_ASSERT_OK(start_capture(1, path));
  run_add(0);
  stop_capture();
  EXPECT_THAT(calls(), Not(HasSubstr("the kernel")));
}

TEST_F(Captures, AreCheckedWithoutBeingBegun) {
  TL_ASSERT_OK(check_capture(0, path));
  EXPECT_FALSE(std::filesystem::exists(path));
  TL_ASSERT_OK(start_capture(0, path));
  stop_capture();
  EXPECT_EQ(check_capture(0, path).code(), StatusCode::InvalidArgument);
}

TEST_F(Captures, AreRefusedInWords) {
  const auto refused = [](std::size_t ordinal, const std::string& at, StatusCode code) {
    const Status status = start_capture(ordinal, at);
    EXPECT_EQ(status.code(), code);
    const bool is_known_before = code != StatusCode::DeviceError;  // only Metal finds this error
    EXPECT_EQ(check_capture(ordinal, at).message(), is_known_before ? status.message() : "");
    return status.message();
  };
  EXPECT_THAT(refused(0, "x.trace", StatusCode::InvalidArgument), HasSubstr("end in .gputrace"));
  EXPECT_THAT(refused(0, "\xff.gputrace", StatusCode::InvalidArgument), HasSubstr("be UTF-8"));
  EXPECT_THAT(refused(0, std::string(300, 'x') + ".gputrace", StatusCode::DeviceError),
              HasSubstr("cannot be written"));
  EXPECT_THAT(refused(0, path / "in.gputrace", StatusCode::InvalidArgument),
              HasSubstr("there is no folder " + path.string()));
  EXPECT_THAT(refused(9, path, StatusCode::NotFound), HasSubstr("no Metal device 9"));
  softmetal::fail_call(1);
  EXPECT_THAT(refused(0, path, StatusCode::DeviceError), HasSubstr(softmetal::kFaultText));
  softmetal::fail_call(0);
  TL_ASSERT_OK(start_capture(0, path));
  EXPECT_THAT(refused(0, path, StatusCode::InvalidArgument), HasSubstr("exists already"));
  EXPECT_THAT(refused(0, path.string() + ".gputrace", StatusCode::DeviceError),
              HasSubstr("there is a capture already (MTLCaptureErrorDomain 2)"));
  stop_capture();
  std::filesystem::remove_all(path);
  unsetenv("METAL_CAPTURE_ENABLED");
  EXPECT_THAT(refused(0, path, StatusCode::Unavailable),
              HasSubstr("help: set METAL_CAPTURE_ENABLED=1"));
}

}  // namespace
}  // namespace texloom::hal::metal
