// A fixture with a device over a table of OpenCL functions that a test changes.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/drivers/opencl/api/api.h"
#include "tests/runtime/drivers/opencl/commands/queue_fixture.h"

namespace texloom::hal::opencl {

// Uses the real OpenCL functions, except those that a test replaces to fail or to be counted.
class ReplacedCallTest : public QueueTest {
 protected:
  static inline std::atomic<bool> fail = false;
  static inline Api real = {};
  static inline std::map<cl_mem, std::size_t> buffer_bytes;

  void open_with(const std::function<void(Api&)>& replace, const DriverOptions& options = {},
                 const DeviceOptions& device_options = {}) {
    if (driver_ == nullptr) return;
    const auto loaded = load_api(options.loader_paths);
    ASSERT_TRUE(loaded.ok());
    real = **loaded;
    const auto api = std::make_shared<Api>(real);
    replace(*api);
    fail = false;
    const auto driver = create_driver(std::shared_ptr<const Api>(api), options);
    ASSERT_TRUE(driver.ok());
    device_ = *(*driver)->open(0, device_options);
  }
  void TearDown() override { fail = false; }

  // Simulates an NVIDIA device, so that rows of the quirk table match.
  static void pretend_nvidia(Api& api) {
    api.clGetDeviceInfo = [](cl_device_id device, cl_device_info name, std::size_t bytes,
                             void* value, std::size_t* size) -> cl_int {
      constexpr std::string_view kVendor("NVIDIA Corporation\0", 19);
      if (name != CL_DEVICE_VENDOR) return real.clGetDeviceInfo(device, name, bytes, value, size);
      if (size != nullptr) *size = kVendor.size();
      if (value != nullptr) kVendor.copy(static_cast<char*>(value), bytes);
      return CL_SUCCESS;
    };
  }
};

// Replaces a member by a function that counts calls and forwards them.
template <auto Member>
struct Counted;
template <typename R, typename... Args, R (CL_API_CALL* Api::*Member)(Args...)>
struct Counted<Member> {
  static inline std::atomic<int> calls = 0;
  static inline const Api* real = nullptr;
  static R CL_API_CALL call(Args... args) {
    ++calls;
    return (real->*Member)(args...);
  }
};

template <auto Member>
void count_calls(const Api& real, Api& api) {
  Counted<Member>::calls = 0;
  Counted<Member>::real = &real;
  api.*Member = Counted<Member>::call;
}

template <auto... Members>
int calls_of() {
  return (Counted<Members>::calls + ...);
}

}  // namespace texloom::hal::opencl
