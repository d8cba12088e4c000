#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/drivers/metal/driver.h"
#include "runtime/hal/device.h"
#include "tests/runtime/status_matchers.h"

namespace texloom::hal::metal {

// A source with the kernel "add", which other kernels may follow: out = in + k, for integers.
inline constexpr const char* kAddSource = R"(
#include <metal_stdlib>
using namespace metal;
struct By { int k; };
kernel void add(device const int* in [[buffer(0)]], device int* out [[buffer(1)]],
                constant By& by [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  out[i] = in[i] + by.k;
}
)";

// The same with an argument buffer.
inline constexpr const char* kArgumentBufferSource = R"(
#include <metal_stdlib>
using namespace metal;
struct Table { device const int* in [[id(0)]]; device int* out [[id(1)]]; };
struct By { int k; };
kernel void add(constant Table& table [[buffer(0)]], constant By& by [[buffer(1)]],
                uint i [[thread_position_in_grid]]) {
  table.out[i] = table.in[i] + by.k;
}
)";

inline std::vector<KernelParam> add_params() {
  return {BufferParam{.name = "in", .access = Access::Read},
          BufferParam{.name = "out", .access = Access::Write},
          ConstantParam{.name = "k", .type = ElementType::Int32}};
}

// A test on a Metal device, the first one unless it says otherwise.
class DeviceTest : public ::testing::Test {
 protected:
  void open(const DriverOptions& options = {}, std::size_t ordinal = 0,
            const DeviceOptions& device_options = {}) {
    const auto driver = create_driver(options);
    TL_ASSERT_OK(driver.status());
    const auto opened = (*driver)->open(ordinal, device_options);
    TL_ASSERT_OK(opened.status());
    device = *opened;
  }
  std::shared_ptr<Buffer> make(std::uint64_t bytes, MemoryKind kind = MemoryKind::Device) {
    const auto made = device->create_buffer({.bytes = bytes, .memory = kind});
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return *made;
  }

  std::shared_ptr<Device> device;
};

}  // namespace texloom::hal::metal
