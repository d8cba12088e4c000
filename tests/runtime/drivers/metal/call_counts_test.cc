// Tests the number of Metal API calls that encode 1,000 dispatches.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/hal/transfer.h"
#include "tests/runtime/drivers/metal/device_test.h"
#include "tests/runtime/drivers/metal/message_counts.h"
#include "tests/runtime/status_matchers.h"

namespace texloom::hal::metal {
namespace {

const std::string kSource = std::string(kAddSource) + R"(
kernel void subtract(device const int* in [[buffer(0)]], device int* out [[buffer(1)]],
                     constant By& by [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  out[i] = in[i] - by.k;
}
)";
constexpr int kDispatches = 1000;

// Counts the changes in a sequence of values; the first value is a change.
class Changes {
 public:
  void next(int value) {
    changes_ += value != last_;
    last_ = value;
  }
  int number() const { return changes_; }

 private:
  int last_ = -1, changes_ = 0;
};

using CallCounts = DeviceTest;

TEST_F(CallCounts, OfAThousandDispatches) {
  open();
  auto executable =
      device->create_executable({.codes = {{.format = KernelFormat::Msl, .code = kSource}},
                                 .entry_points = {{.name = "add", .params = add_params()},
                                                  {.name = "subtract", .params = add_params()}}});
  TL_ASSERT_OK(executable.status());
  std::array<std::shared_ptr<Buffer>, 2> buffers;
  const std::vector<int> zeros(8, 0);
  for (std::shared_ptr<Buffer>& each : buffers) {
    each = make(32);
    TL_ASSERT_OK(write_buffer(*device, each, 0, std::as_bytes(std::span(zeros))));
  }

  // The kernel changes every 10 dispatches, the buffers every 5, and the constant every 100.
  const auto commands = device->create_command_buffer({.reusable = true});
  Changes kernels, orders, constants;
  for (int i = 0; i < kDispatches; ++i) {
    const int kernel = i / 10 % 2, order = i / 5 % 2, k = i / 100;
    kernels.next(kernel), orders.next(order), constants.next(k);
    const std::array<Binding, 2> bindings = {BufferBinding{buffers[order]},
                                             BufferBinding{buffers[1 - order]}};
    const std::array values = {Constant(k)};
    if (i > 0) {
      TL_ASSERT_OK(commands->barrier());
    }
    TL_ASSERT_OK(commands->dispatch(*executable, kernel, {8, 1, 1}, bindings, values));
  }
  TL_ASSERT_OK(commands->finish());
  TL_ASSERT_OK(device->queue()->run({.commands = {commands}}));

  const MessageCounts counts;
  TL_ASSERT_OK(device->queue()->run({.commands = {commands}}));
  for (const char* once :
       {"commandBufferWithUnretainedReferences", "computeCommandEncoderWithDispatchType:",
        "waitForFence:", "updateFence:", "endEncoding", "commit"})
    EXPECT_EQ(counts.of(once), 1) << once;
  EXPECT_EQ(counts.of("dispatchThreadgroups:threadsPerThreadgroup:"), kDispatches);
  EXPECT_EQ(counts.beginning_with("blitCommandEncoder"), 0);
  EXPECT_EQ(counts.of("setComputePipelineState:"), kernels.number());
  EXPECT_EQ(counts.of("setBuffer:offset:atIndex:"), 2 * orders.number());
  EXPECT_EQ(counts.of("setBytes:length:atIndex:"), constants.number());
  EXPECT_EQ(counts.of("memoryBarrierWithScope:") + counts.of("memoryBarrierWithResources:count:"),
            kDispatches - 1);
  EXPECT_EQ(counts.beginning_with("new"), 0) << "nothing is allocated in the second submission";
}

// Each resource of argument buffers is named once per encoder.
TEST_F(CallCounts, OfArgumentBuffers) {
  open();
  auto executable = device->create_executable(
      {.codes = {{.format = KernelFormat::Msl, .code = kArgumentBufferSource}},
       .entry_points = {{.name = "add", .params = add_params()}}});
  TL_ASSERT_OK(executable.status());
  const std::array<Binding, 2> bindings = {BufferBinding{make(32)}, BufferBinding{make(32)}};
  const auto commands = device->create_command_buffer();
  for (int i = 0; i < 10; ++i) {
    const std::array values = {Constant(i)};
    TL_ASSERT_OK(commands->dispatch(*executable, 0, {8, 1, 1}, bindings, values));
    TL_ASSERT_OK(commands->barrier());
  }
  const MessageCounts counts;
  TL_ASSERT_OK(run_and_wait(*device, commands));
  EXPECT_EQ(counts.of("useResource:usage:"), 2);
  EXPECT_EQ(counts.of("setBytes:length:atIndex:"), 11);  // the addresses, and 10 constants
  EXPECT_EQ(counts.beginning_with("setBuffer"), 0);
}

}  // namespace
}  // namespace texloom::hal::metal
