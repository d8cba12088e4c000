#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/drivers/metal/driver.h"
#include "runtime/hal/device.h"
#include "runtime/hal/transfer.h"
#include "tests/runtime/status_matchers.h"

namespace texloom::hal::metal {

// A source with the kernel "add": out = in + k, for integers. Tests may append kernels.
inline constexpr const char* kAddSource = R"(
#include <metal_stdlib>
using namespace metal;
struct By { int k; };
kernel void add(device const int* in [[buffer(0)]], device int* out [[buffer(1)]],
                constant By& by [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  out[i] = in[i] + by.k;
}
)";

// The kernel "add" with an argument buffer.
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

// Describes the kernel "add" of a source.
inline ExecutableDesc add_desc(const std::string& source = kAddSource) {
  return {.codes = {{.format = KernelFormat::Msl, .code = source}},
          .entry_points = {{.name = "add", .params = add_params()}}};
}

// A test on a Metal device, by default the first one.
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

  // Creates the executable, whose first entry point is "add", and checks a run's result.
  void expect_that_it_adds(const ExecutableDesc& desc) {
    const auto made = device->create_executable(desc);
    TL_ASSERT_OK(made.status());
    const auto in = make(4), out = make(4);
    std::array<int, 1> value = {7};
    TL_ASSERT_OK(write_buffer(*device, in, 0, std::as_bytes(std::span(value))));
    const auto commands = device->create_command_buffer();
    TL_ASSERT_OK(commands->dispatch(*made, 0, {1, 1, 1},
                                    std::array<Binding, 2>{BufferBinding{in}, BufferBinding{out}},
                                    std::array{Constant(5)}));
    TL_ASSERT_OK(run_and_wait(*device, commands));
    TL_ASSERT_OK(read_buffer(*device, out, 0, std::as_writable_bytes(std::span(value))));
    EXPECT_EQ(value[0], 12);
  }

  std::shared_ptr<Device> device;
};

}  // namespace texloom::hal::metal
