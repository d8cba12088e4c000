// Tests that native commands run in order with the driver's own commands, and leave their state
// intact. If a fence, event or barrier is missing, the software Metal aborts the process.
#import <Metal/Metal.h>

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "runtime/drivers/metal/api/native.h"
#include "runtime/hal/transfer.h"
#include "tests/runtime/drivers/metal/device_test.h"
#include "tests/runtime/status_matchers.h"

namespace texloom::hal::metal {
namespace {

const std::string kSource = std::string(kAddSource) + R"(
kernel void read(texture2d<int, access::read> in [[texture(0)]], device int* out [[buffer(0)]],
                 uint i [[thread_position_in_grid]]) {
  out[i] = in.read(uint2(i, 0)).x;
}
)";

class Native : public DeviceTest {
 protected:
  static constexpr std::uint64_t kBytes = 32;

  void SetUp() override {
    open();
    auto made = device->create_executable(
        {.codes = {{.format = KernelFormat::Msl, .code = kSource}},
         .entry_points = {{.name = "add", .params = add_params()},
                          {.name = "read",
                           .params = {TextureParam{.name = "in",
                                                   .format = TexelFormat::Rgba32Int,
                                                   .access = Access::Read},
                                      BufferParam{.name = "out", .access = Access::Write}}}}});
    TL_ASSERT_OK(made.status());
    executable = *made;
    for (std::shared_ptr<Buffer>* each : {&a, &b, &c}) *each = make(kBytes);
    const std::vector<int> values(8, 1);
    TL_ASSERT_OK(write_buffer(*device, a, 0, std::as_bytes(std::span(values))));
  }

  // Records to = from + k.
  Status add(CommandBuffer& commands, const std::shared_ptr<Buffer>& from,
             const std::shared_ptr<Buffer>& to, int k) {
    const std::array<Binding, 2> bindings = {BufferBinding{from}, BufferBinding{to}};
    const std::array constants = {Constant(k)};
    return commands.dispatch(executable, 0, {8, 1, 1}, bindings, constants);
  }
  // Records a native command that reads one buffer and writes another one.
  static Status encode(
      CommandBuffer& commands, const std::shared_ptr<Buffer>& from,
      const std::shared_ptr<Buffer>& to,
      const std::function<void(const NativeHandles&, id<MTLBuffer>, id<MTLBuffer>)>& use) {
    const std::array accesses = {
        NativeAccess{.memory = BufferBinding{from}, .access = Access::Read, .bytes = kBytes},
        NativeAccess{.memory = BufferBinding{to}, .access = Access::Write, .bytes = kBytes}};
    return commands.native(accesses, [use](const NativeCommands& native) -> Status {
      const auto memory = [&](std::size_t i) {
        return (id<MTLBuffer>)native_memory(std::get<BoundBuffer>(native.memory[i]));
      };
      use(*native_handles(native), memory(0), memory(1));
      return {};
    });
  }
  static void copy_by_command_buffer(const NativeHandles& handles, id<MTLBuffer> from,
                                     id<MTLBuffer> to) {
    auto* const borrowed = (id<MTLCommandBuffer>)handles.leases->command_buffer();
    id<MTLBlitCommandEncoder> encoder = [borrowed blitCommandEncoder];
    [encoder copyFromBuffer:from sourceOffset:0 toBuffer:to destinationOffset:0 size:kBytes];
    [encoder endEncoding];
  }
  void expect(const std::shared_ptr<Buffer>& buffer, int value) {
    std::vector<int> values(8);
    TL_ASSERT_OK(read_buffer(*device, buffer, 0, std::as_writable_bytes(std::span(values))));
    EXPECT_EQ(values, std::vector<int>(8, value));
  }

  std::shared_ptr<Executable> executable;
  std::shared_ptr<Buffer> a, b, c;
};

TEST_F(Native, TheCommandBufferIsInOrder) {
  const auto commands = device->create_command_buffer();
  TL_ASSERT_OK(add(*commands, a, b, 1));
  TL_ASSERT_OK(encode(*commands, b, c, copy_by_command_buffer));
  TL_ASSERT_OK(add(*commands, c, b, 10));
  TL_ASSERT_OK(run_and_wait(*device, commands));
  expect(b, 12);
}

TEST_F(Native, TheNextCommandBufferIsInOrder) {
  const auto first = device->create_command_buffer(), second = device->create_command_buffer();
  TL_ASSERT_OK(encode(*first, a, c, copy_by_command_buffer));
  TL_ASSERT_OK(add(*second, c, b, 10));
  for (const auto& commands : {first, second}) {
    TL_ASSERT_OK(commands->finish());
    TL_ASSERT_OK(device->queue()->submit(commands));
  }
  TL_ASSERT_OK(device->queue()->wait_idle());
  expect(b, 11);
}

TEST_F(Native, TheComputeEncoderKeepsItsArguments) {
  const auto commands = device->create_command_buffer();
  TL_ASSERT_OK(add(*commands, a, b, 1));
  TL_ASSERT_OK(encode(
      *commands, a, b, [](const NativeHandles& handles, id<MTLBuffer> from, id<MTLBuffer> to) {
        auto* const encoder = (id<MTLComputeCommandEncoder>)handles.leases->compute_encoder();
        const int k = 100;
        [encoder setBuffer:from offset:0 atIndex:0];
        [encoder setBuffer:to offset:0 atIndex:1];
        [encoder setBytes:&k length:sizeof k atIndex:2];
        [encoder dispatchThreadgroups:MTLSizeMake(8, 1, 1)
                threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
      }));
  TL_ASSERT_OK(add(*commands, a, b, 1));  // the same arguments as before
  TL_ASSERT_OK(run_and_wait(*device, commands));
  expect(b, 2);
}

TEST_F(Native, ViewsAreInOrderWithTheirBuffer) {
  auto texels = device->create_buffer({.bytes = 4096});
  TL_ASSERT_OK(texels.status());
  auto view = device->allocator()->create_view(
      *texels, {.texture = {.extent = {8, 1}, .format = TexelFormat::Rgba32Int}});
  TL_ASSERT_OK(view.status());
  // A kernel writes the first 32 bytes: two texels.
  const auto commands = device->create_command_buffer();
  TL_ASSERT_OK(add(*commands, a, *texels, 4));
  const std::array<Binding, 2> bindings = {TextureBinding{*view}, BufferBinding{b}};
  TL_ASSERT_OK(commands->dispatch(executable, 1, {2, 1, 1}, bindings, {}));
  TL_ASSERT_OK(add(*commands, b, c, 1));
  TL_ASSERT_OK(run_and_wait(*device, commands));
  std::array<int, 2> values = {};
  TL_ASSERT_OK(read_buffer(*device, c, 0, std::as_writable_bytes(std::span(values))));
  EXPECT_EQ(values, (std::array{6, 6}));
}

}  // namespace
}  // namespace texloom::hal::metal
