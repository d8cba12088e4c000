// What the driver asks of Metal, and what it checks in a kernel.
#import <Metal/Metal.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "runtime/hal/transfer.h"
#include "tests/runtime/drivers/metal/device_test.h"
#include "tests/runtime/status_matchers.h"

namespace texloom::hal::metal {
namespace {

constexpr const char* kSource = R"(
#include <metal_stdlib>
using namespace metal;
struct By { int k; };
kernel void is_fast(device int* out [[buffer(0)]], constant By& by [[buffer(1)]]) {
#ifdef __FAST_MATH__
  out[0] = by.k;
#else
  out[0] = 0;
#endif
}
)";

class Driver : public DeviceTest {
 protected:
  void SetUp() override { open(); }
  Result<std::shared_ptr<Executable>> executable(ElementType constant, MathMode math) {
    return device->create_executable(
        {.codes = {{.format = KernelFormat::Msl, .code = kSource}},
         .entry_points = {{.name = "is_fast",
                           .params = {BufferParam{.name = "out", .access = Access::Write},
                                      ConstantParam{.name = "k", .type = constant}}}},
         .math = math});
  }
  void is_fast(MathMode math, bool expected) {
    const auto made = executable(ElementType::Int32, math);
    TL_ASSERT_OK(made.status());
    int value = -1;
    const std::shared_ptr<Buffer> buffer = make(sizeof value);
    const auto commands = device->create_command_buffer();
    TL_ASSERT_OK(commands->dispatch(*made, 0, {1, 1, 1},
                                    std::array<Binding, 1>{BufferBinding{buffer}},
                                    std::array{Constant(1)}));
    TL_ASSERT_OK(run_and_wait(*device, commands));
    TL_ASSERT_OK(read_buffer(*device, buffer, 0, std::as_writable_bytes(std::span(&value, 1))));
    EXPECT_EQ(value, expected ? 1 : 0);
  }
};

TEST_F(Driver, RelaxesArithmeticWhereAllIsAllowedAlone) {
  is_fast(MathMode::Strict, false);
  is_fast(MathMode::Fast, true);
}

TEST_F(Driver, RefusesConstantsOfAnotherSize) {
  const auto made = executable(ElementType::Int64, MathMode::Strict);
  const Status status = made.ok() ? (*made)->prepare() : made.status();
  EXPECT_THAT(
      status.message(),
      ::testing::HasSubstr("the table's constants take 8 bytes, the kernel's buffer 1 has 4"));
}

TEST_F(Driver, ExportsEventsThatTheHostRaises) {
  const auto semaphore = device->create_semaphore();
  TL_ASSERT_OK(semaphore.status());
  const auto exported = (*semaphore)->export_as(ExternalSemaphoreKind::SharedEvent);
  TL_ASSERT_OK(exported.status());
  TL_ASSERT_OK((*semaphore)->signal(3));
  EXPECT_EQ([(id<MTLSharedEvent>)exported->object.get() signaledValue], 3U);
}

}  // namespace
}  // namespace texloom::hal::metal
