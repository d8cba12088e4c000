// Makes every OpenCL call fail once, in every possible way, while a workload runs that uses all of
// them. The error must be returned with the driver's text; nothing may leak, hang or be released
// too early; and the same device must complete the next work.
//
// --gtest_output=json:FILE writes the outcomes by function.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "runtime/drivers/opencl/driver.h"
#include "tests/runtime/drivers/opencl/fault_workload.h"
#include "tests/runtime/drivers/opencl/faulty_api.h"
#include "tests/runtime/opencl_fixture.h"

// Included after the driver's API header, which defines the OpenCL version for this header.
#include <CL/cl_ext.h>

namespace texloom::hal::opencl {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kName(const Fault& fault) { return kFunctionNames[fault.function]; }

std::string to_string(const Fault& fault) {
  constexpr std::array kWays = {"CL_OUT_OF_RESOURCES", "CL_OUT_OF_HOST_MEMORY", "makes nothing"};
  return fmt::format("{} number {}: {}", kName(fault), fault.occurrence,
                     kWays[static_cast<std::size_t>(fault.failing)]);
}

// A call whose failure the workload may survive: functions by prefix, the step ("" for any) and the
// first integer argument (0 for any).
struct Tolerated {
  std::string_view function_prefix;
  std::string_view step;
  cl_uint first_integer;
  std::string_view reason;
  std::optional<Failing> failing = {};
};
constexpr Tolerated kTolerated[] = {
    {"clCreate", "", 0, "what is short of memory is tried again", Failing::OutOfHostMemory},
    {"clRelease", "", 0, "what is released is not used again, whatever the driver says"},
    {"clFinish", "", 0, "it follows an error, which is told"},
    {"clGetPlatformInfo", "", 0, "the platform has no name then"},
    {"clGetDeviceInfo", "", CL_DEVICE_HALF_FP_CONFIG, "there is no half arithmetic then"},
    {"clGetDeviceInfo", "", CL_DEVICE_IMAGE_PITCH_ALIGNMENT_KHR,
     "pitch alignment: there are no views then"},
    {"clGetDeviceInfo", "", CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT_KHR,
     "base alignment: there are no views then"},
    {"clGetKernelArgInfo", "", 0, "what is not described is not checked"},
    {"clGetProgramInfo", "", CL_PROGRAM_BINARY_SIZES, "nothing is stored then"},
    {"clGetProgramInfo", "", CL_PROGRAM_BINARIES, "nothing is stored then"},
    {"cl", "stored binary", 0, "it is built from source then"},
    {"clGetProgramBuildInfo", "", 0, "the error of the build says so"},
    {"clGetEventProfilingInfo", "", 0, "the command has no span then"},
};

// Ends the process if a fault takes longer than any step should.
class Watchdog {
 public:
  explicit Watchdog(std::string what)
      : what_(std::move(what)), thread_([this] {
          std::unique_lock lock(mutex_);
          if (done_.wait_for(lock, std::chrono::seconds(60), [this] { return over_; })) return;
          std::fprintf(stderr, "hangs: %s\n", what_.c_str());
          std::abort();
        }) {}
  ~Watchdog() {
    {
      const std::scoped_lock lock(mutex_);
      over_ = true;
    }
    done_.notify_one();
    thread_.join();
  }

 private:
  std::string what_;
  std::mutex mutex_;
  std::condition_variable done_;
  bool over_ = false;
  std::thread thread_;
};

class FaultInjectionTest : public OpenClTest {
 protected:
  static inline Api real = {};

  // The workload sees only the first device of the first platform.
  void SetUp() override {
    OpenClTest::SetUp();
    if (driver_ == nullptr) return;
    const std::vector<std::string> paths = DriverOptions().loader_paths;
    real = **load_api(paths);
    Api first = real;
    first.clGetPlatformIDs = [](cl_uint size, cl_platform_id* platforms, cl_uint* count) {
      if (count != nullptr) *count = 1;
      return platforms == nullptr ? CL_SUCCESS : real.clGetPlatformIDs(size, platforms, nullptr);
    };
    first.clGetDeviceIDs = [](cl_platform_id platform, cl_device_type type, cl_uint size,
                              cl_device_id* devices, cl_uint* count) {
      if (count != nullptr) *count = 1;
      if (devices == nullptr) return CL_SUCCESS;
      return real.clGetDeviceIDs(platform, type, size, devices, nullptr);
    };
    api_ = std::make_shared<const Api>(FaultyApi::wrap(first));
    std::string name = (fs::temp_directory_path() / "texloom-fault-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  enum class Outcome { Error, Tolerated };

  Outcome run_with(const Fault& fault) {
    const Watchdog watchdog(to_string(fault));
    fs::remove_all(folder_);
    FaultyApi::arm(fault);
    std::optional<FaultWorkload> workload;
    workload.emplace(api_, folder_.string(), kName(fault) == "clWaitForEvents");
    const Status status = workload->run();
    const bool fired = FaultyApi::fired();
    const cl_uint first_integer = FaultyApi::first_integer();
    FaultyApi::disarm();
    const std::string step = workload->step();
    TL_EXPECT_OK(workload->run_next());
    workload.reset();
    for (const std::string& complaint : FaultyApi::take_complaints()) ADD_FAILURE() << complaint;
    EXPECT_TRUE(fired) << "the call was not made";
    if (status.ok()) {
      EXPECT_TRUE(is_tolerated(fault, step, first_integer))
          << "no error, in the step \"" << step << "\", first integer " << first_integer;
      return Outcome::Tolerated;
    }
    expect_words(fault, status);
    return Outcome::Error;
  }

  static bool is_tolerated(const Fault& fault, std::string_view step, cl_uint first_integer) {
    return std::any_of(std::begin(kTolerated), std::end(kTolerated), [&](const Tolerated& row) {
      return kName(fault).starts_with(row.function_prefix) &&
             (!row.failing || *row.failing == fault.failing) &&
             (row.step.empty() || row.step == step) &&
             (row.first_integer == 0 || row.first_integer == first_integer);
    });
  }

  static void expect_words(const Fault& fault, const Status& status) {
    constexpr std::array kWords = {"CL_OUT_OF_RESOURCES", "CL_OUT_OF_HOST_MEMORY",
                                   "returned CL_SUCCESS, but created nothing"};
    const std::string& message = status.message();
    EXPECT_NE(message.find(kWords[static_cast<std::size_t>(fault.failing)]), std::string::npos)
        << status.to_string();
    // For an enqueue that returns no event, the error names the command.
    const bool names_command =
        fault.failing == Failing::MakesNothing && kName(fault).starts_with("clEnqueue");
    EXPECT_TRUE(names_command || message.find(kName(fault)) != std::string::npos)
        << status.to_string();
  }

  std::shared_ptr<const Api> api_;
  fs::path folder_;
};

TEST_F(FaultInjectionTest, EachCallFailsInTurn) {
  FaultyApi::take_complaints();
  FaultyApi::disarm();
  std::array<std::array<int, kAllFailing.size()>, kFunctionNames.size()> calls = {};
  {
    FaultWorkload workload(api_, folder_.string(), false);
    TL_ASSERT_OK(workload.run());
    for (std::size_t function = 0; function < calls.size(); ++function) {
      for (std::size_t way = 0; way < kAllFailing.size(); ++way)
        calls[function][way] = FaultyApi::calls(function, kAllFailing[way]);
    }
  }
  EXPECT_EQ(FaultyApi::take_complaints(), std::vector<std::string>());
  for (std::size_t function = 0; function < calls.size(); ++function) {
    std::map<Outcome, int> outcomes;
    for (std::size_t way = 0; way < kAllFailing.size(); ++way) {
      for (int occurrence = 1; occurrence <= calls[function][way]; ++occurrence) {
        const Fault fault{function, occurrence, kAllFailing[way]};
        SCOPED_TRACE(to_string(fault));
        ++outcomes[run_with(fault)];
      }
    }
    const int errors = outcomes[Outcome::Error], tolerated = outcomes[Outcome::Tolerated];
    EXPECT_GT(errors + tolerated, 0) << kFunctionNames[function] << " is never called";
    RecordProperty(
        std::string(kFunctionNames[function]),
        fmt::format("{} failed: {} errors, {} tolerated", errors + tolerated, errors, tolerated));
  }
}

}  // namespace
}  // namespace texloom::hal::opencl
