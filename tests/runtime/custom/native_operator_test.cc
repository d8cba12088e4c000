// Tests operators that use the driver's own handles, and finds those that make blocking calls.
#include <dlfcn.h>

#include <cstdlib>
#include <memory>

#include "runtime/drivers/host/native.h"
#include "runtime/drivers/opencl/api/api.h"
#include "runtime/drivers/opencl/api/native.h"
#include "runtime/drivers/opencl/driver.h"
#include "runtime/hal/no_waits.h"
#include "tests/opencl_layer/blocking_calls.h"
#include "tests/runtime/custom/custom_fixture.h"

namespace texloom::runtime {
namespace {

using hal::opencl::Api;

// The layer between the OpenCL loader and the drivers (tests/opencl_layer) counts blocking calls of
// native commands: those on a thread on which Texloom refuses its own waits.
class BlockingCalls : public ::testing::Environment {
 public:
  // Runs before any test opens the loader, which opens its layers at that time.
  void SetUp() override { setenv("OPENCL_LAYERS", TEXLOOM_BLOCKING_CALLS_LAYER, 1); }

  // Starts to count from zero. Returns false if the loader supports no layers.
  static bool start() {
    const auto count =
        function<decltype(&texloom_count_blocking_calls)>("texloom_count_blocking_calls");
    if (count == nullptr) return false;
    count(&hal::NoWaits::are_refused);
    return true;
  }
  static int count() {
    return function<decltype(&texloom_blocking_calls)>("texloom_blocking_calls")();
  }

 private:
  template <typename Function>
  static Function function(const char* name) {
    void* library = dlopen(TEXLOOM_BLOCKING_CALLS_LAYER, RTLD_NOW | RTLD_NOLOAD);
    return library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
  }
};
const auto* const kBlockingCalls = ::testing::AddGlobalTestEnvironment(new BlockingCalls);

class NativeOperators : public CustomOperators {
 protected:
  void SetUp() override {
    const auto loaded = hal::opencl::load_api(hal::opencl::DriverOptions().loader_paths);
    if (loaded.status().code() == StatusCode::Unavailable) GTEST_SKIP() << "no OpenCL device";
    api_ = *loaded;
    auto driver = hal::opencl::create_driver(api_);
    if (driver.status().code() == StatusCode::Unavailable) GTEST_SKIP() << "no OpenCL device";
    if (!BlockingCalls::start()) GTEST_SKIP() << "the OpenCL loader has no layers";
    driver_ = *driver;
    device_ = *driver_->open(0);
    plan_.arguments = {buffer_of_elements("X"), buffer_of_elements("Y")};
  }

  // Copies x to y with an OpenCL command on the queue it gets, then calls `then` with that queue.
  std::shared_ptr<const CustomOperator> copy(
      const std::string& name, const std::function<cl_int(cl_command_queue, cl_mem)>& then) {
    OperatorInfo info = x_to_y(name);
    info.drivers = {"opencl"};
    return operator_of(info, [=, this](const EncodeContext& context) {
      return context.native([=, this](const hal::NativeCommands& commands) {
        const auto* handles = hal::opencl::native_handles(commands);
        const auto& x = std::get<hal::BoundBuffer>(commands.memory[0]);
        const auto& y = std::get<hal::BoundBuffer>(commands.memory[1]);
        ++encoded_;
        cl_int code = api_->clEnqueueCopyBuffer(handles->queue, hal::opencl::native_memory(x),
                                                hal::opencl::native_memory(y), x.offset, y.offset,
                                                kElements * sizeof(float), 0, nullptr, nullptr);
        if (code == CL_SUCCESS) code = then(handles->queue, hal::opencl::native_memory(y));
        return code == CL_SUCCESS ? Status() : make_error(StatusCode::DeviceError, "{}", code);
      });
    });
  }

  std::shared_ptr<const Api> api_;
  int encoded_ = 0;
};

// A native operator is recorded once, and called at each submission with the memory of its table.
TEST_F(NativeOperators, AreCalledAtEverySubmission) {
  call(copy("copy", [](cl_command_queue, cl_mem) { return CL_SUCCESS; }), {0, 1});
  TL_ASSERT_OK(prepare({.check_writes = true}));
  const auto commands = *recorded();
  EXPECT_EQ(encoded_, 0);
  for (int i = 1; i <= 3; ++i) {
    const auto table = table_of({numbers(static_cast<float>(i)), numbers(0)});
    TL_EXPECT_OK(device_->queue()->run({{}, {{commands, table}}, {}}));
    EXPECT_EQ(values_at(table, 1), numbers(static_cast<float>(i)));
    EXPECT_EQ(encoded_, i);
  }
  EXPECT_EQ(BlockingCalls::count(), 0);
}

// Native and host operators keep the queue's order.
TEST_F(NativeOperators, AroundAHostOperator) {
  plan_.arguments.push_back(buffer_of_elements("Z"));
  const auto through = copy("copy", [](cl_command_queue, cl_mem) { return CL_SUCCESS; });
  call(through, {0, 1});
  call(std::make_shared<HostFunction>(
           OperatorInfo{.name = "test::add",
                        .arguments = {{.name = "x", .access = Access::ReadWrite}}},
           [](const HostArguments& arguments) {
             for (float& each : floats(arguments.tensors[0])) each += 10;
             return Status();
           }),
       {1});
  call(through, {1, 2});
  TL_EXPECT_OK(run_plan({numbers(1), numbers(0), numbers(0)}));
  EXPECT_EQ(result(2), numbers(11));
}

TEST_F(NativeOperators, ThatBlockAreFound) {
  call(copy("finish", [this](cl_command_queue queue, cl_mem) { return api_->clFinish(queue); }),
       {0, 1});
  TL_EXPECT_OK(run_plan({numbers(1), numbers(0)}));
  EXPECT_EQ(BlockingCalls::count(), 1);
  plan_.steps.clear();
  call(copy("read",
            [this](cl_command_queue queue, cl_mem memory) {
              float value = 0;
              return api_->clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof value, &value, 0,
                                               nullptr, nullptr);
            }),
       {0, 1});
  TL_EXPECT_OK(run_plan({numbers(1), numbers(0)}));
  EXPECT_EQ(BlockingCalls::count(), 2);
}

// An error of native commands fails the submission, and the queue can be used again.
TEST_F(NativeOperators, ThatFail) {
  call(copy("fail", [](cl_command_queue, cl_mem) { return CL_INVALID_VALUE; }), {0, 1});
  EXPECT_THAT(run_plan({numbers(1), numbers(0)}),
              fails_with(StatusCode::DeviceError, "operator \"test::fail\""));
  TL_EXPECT_OK(device_->queue()->wait_idle());
}

// Loading for another driver is refused before anything runs.
TEST_F(NativeOperators, OnAnotherDriver) {
  const auto op = copy("copy", [](cl_command_queue, cl_mem) { return CL_SUCCESS; });
  open("host");
  call(op, {0, 1});
  EXPECT_THAT(prepare(), fails_with(StatusCode::Unimplemented,
                                    "operator \"test::copy\": works "
                                    "with devices of opencl"));
}

}  // namespace
}  // namespace texloom::runtime
