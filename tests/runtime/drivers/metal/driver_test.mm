// Tests the driver's calls of Metal, and its checks of kernels.
#import <Metal/Metal.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

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
  EXPECT_THAT(status.message(),
              ::testing::HasSubstr(
                  "the entry point's constants take 8 bytes, but the kernel's buffer 1 has 4"));
}

TEST_F(Driver, RefusesConstantsThatAreTooManyWithTheirGaps) {
  std::string members;
  std::vector<KernelParam> params;
  for (int i = 0; i < 341; ++i) {  // 4092 bytes without gaps, 5456 with them
    members += "int i" + std::to_string(i) + "; long l" + std::to_string(i) + ";";
    params.emplace_back(ConstantParam{.name = "i", .type = ElementType::Int32});
    params.emplace_back(ConstantParam{.name = "l", .type = ElementType::Int64});
  }
  const auto made = device->create_executable(
      {.codes = {{.format = KernelFormat::Msl,
                  .code = "struct All { " + members +
                          " }; kernel void k(constant All& all [[buffer(0)]]) {}"}},
       .entry_points = {{.name = "k", .params = std::move(params)}}});
  EXPECT_THAT(
      made.status().message(),
      ::testing::HasSubstr("takes 5456 bytes of constants, counting the gaps between them"));
}

TEST_F(Driver, RefusesTextThatIsNotUnicode) {
  const auto refused = [&](ExecutableDesc desc) {
    return device->create_executable(desc).status().message();
  };
  const char* const no_text = "\xff\xfe";
  ExecutableDesc desc = add_desc();
  desc.codes[0].code = no_text;
  EXPECT_THAT(refused(desc), ::testing::HasSubstr("the code is not UTF-8"));
  desc = add_desc();
  desc.entry_points[0].name = no_text;
  EXPECT_THAT(refused(desc), ::testing::HasSubstr("the name of a kernel is not UTF-8"));
  desc = add_desc();
  desc.codes[0].build_options = {std::string("-DX=") + no_text};
  EXPECT_THAT(refused(desc), ::testing::HasSubstr("the value of a macro is not UTF-8"));
}

class ImportedEvent : public DeviceTest {
 protected:
  void SetUp() override {
    open();
    make_event();
    count_ = event().retainCount;
    const auto imported = device->import_semaphore(external_);
    TL_ASSERT_OK(imported.status());
    imported_ = *imported;
  }
  void make_event() {
    const auto semaphore = device->create_semaphore();
    TL_ASSERT_OK(semaphore.status());
    const auto exported = (*semaphore)->export_as(ExternalSemaphoreKind::SharedEvent);
    TL_ASSERT_OK(exported.status());
    external_ = *exported;
  }
  id<MTLSharedEvent> event() const { return (id<MTLSharedEvent>)external_.object.get(); }
  void release() { imported_.reset(); }
  void expect_that_nothing_follows() const {
    for (int i = 0; i < 1000 && event().retainCount != count_; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(event().retainCount, count_);
  }

  std::shared_ptr<Semaphore> imported_;

 private:
  ExternalSemaphore external_;
  NSUInteger count_ = 0;
};

TEST_F(ImportedEvent, IsFollowedToItsGreatestValue) {
  for (const std::uint64_t value : {std::uint64_t{2}, std::numeric_limits<std::uint64_t>::max()}) {
    event().signaledValue = value;
    TL_EXPECT_OK(imported_->wait(value, after(std::chrono::seconds(5))));
  }
  release();
  expect_that_nothing_follows();
}

TEST_F(ImportedEvent, IsLetGoOfThoughNobodySignalsIt) {
  release();
  expect_that_nothing_follows();
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
