// Tests kernels that take their buffers and textures in an argument buffer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <string>

#include "runtime/hal/transfer.h"
#include "tests/runtime/drivers/metal/device_test.h"
#include "tests/runtime/status_matchers.h"

namespace texloom::hal::metal {
namespace {

using ::testing::HasSubstr;

class ArgumentBuffers : public DeviceTest {
 protected:
  // Opens the device without residency sets, where kernels reach only memory that encoders name.
  void SetUp() override { open({}, 1); }
  Result<std::shared_ptr<Executable>> build(const std::string& source,
                                            std::vector<KernelParam> params) {
    TL_ASSIGN_OR_RETURN(auto made,
                        device->create_executable(
                            {.codes = {{.format = KernelFormat::Msl, .code = source}},
                             .entry_points = {{.name = "add", .params = std::move(params)}}}));
    TL_RETURN_IF_ERROR(made->prepare());
    return made;
  }
  std::string refused(const std::string& struct_text, std::vector<KernelParam> params) {
    const auto made =
        build("#include <metal_stdlib>\nusing namespace metal;\nstruct Table {" + struct_text +
                  "};\nkernel void add(constant Table& table [[buffer(0)]]) {}",
              std::move(params));
    return made.ok() ? "" : made.status().message();
  }
};

TEST_F(ArgumentBuffers, HaveAddressesWithOffsets) {
  const auto executable = build(kArgumentBufferSource, add_params());
  TL_ASSERT_OK(executable.status());
  std::array<int, 32> values;
  std::iota(values.begin(), values.end(), 0);
  const std::shared_ptr<Buffer> buffer = make(sizeof values), other = make(sizeof values);
  TL_ASSERT_OK(write_buffer(*device, buffer, 0, std::as_bytes(std::span(values))));
  const auto commands = device->create_command_buffer({.reusable = true});
  const auto add = [&](const std::shared_ptr<Buffer>& from, std::uint64_t from_offset,
                       const std::shared_ptr<Buffer>& to, std::uint64_t to_offset, int k) {
    return commands->dispatch(
        *executable, 0, {4, 1, 1},
        std::array<Binding, 2>{BufferBinding{.buffer = from, .offset = from_offset},
                               BufferBinding{.buffer = to, .offset = to_offset}},
        std::array{Constant(k)});
  };
  // `other` is written by the first dispatch and read by the second.
  TL_ASSERT_OK(add(buffer, 32, other, 64, 100));
  TL_ASSERT_OK(commands->barrier());
  TL_ASSERT_OK(add(other, 64, buffer, 0, 1000));
  TL_ASSERT_OK(commands->finish());
  for (int run = 0; run < 2; ++run) {
    TL_ASSERT_OK(device->queue()->run({.commands = {commands}}));
    TL_ASSERT_OK(read_buffer(*device, buffer, 0, std::as_writable_bytes(std::span(values))));
    EXPECT_EQ(std::vector<int>(values.begin(), values.begin() + 6),
              (std::vector<int>{1108, 1109, 1110, 1111, 4, 5}));
  }
}

TEST_F(ArgumentBuffers, AreComparedWithTheTable) {
  const BufferParam in{.name = "in", .access = Access::Read},
      out{.name = "out", .access = Access::Write};
  const TextureParam image{.name = "image", .format = TexelFormat::Rgba32Float};
  const char* const two = "device const int* in [[id(0)]]; device int* out [[id(1)]];";
  EXPECT_EQ(refused(two, {in, out}), "");
  EXPECT_THAT(refused(two, {in}),
              HasSubstr("argument buffer has 2 members, but the entry point declares 1"));
  EXPECT_THAT(refused(two, {in, out, in}), HasSubstr("no buffer 2 in the argument buffer"));
  EXPECT_THAT(refused(two, {in, image}), HasSubstr("no texture 1 in the argument buffer"));
  EXPECT_THAT(refused("array<texture2d<float>, 2> images [[id(0)]];", {image, image}),
              HasSubstr("no texture 0 in the argument buffer"));
  EXPECT_THAT(refused(two, {out, in}),
              HasSubstr("\"out\": the entry point declares a buffer for write"));
  EXPECT_THAT(refused("device const int* in [[id(1)]]; device int* out [[id(0)]];", {in, out}),
              HasSubstr("no buffer 0 in the argument buffer"));
  EXPECT_THAT(
      refused("device const int* in [[id(0)]]; texture2d<int> image [[id(1)]];", {in, image}),
      HasSubstr("channels of another type"));
}

// A buffer that a kernel declares as data, although it has addresses, is no argument buffer.
TEST_F(ArgumentBuffers, AreNotWhatKernelsWrite) {
  const auto made = build(
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "struct Node { device Node* next; int value; };\n"
      "kernel void add(device Node* nodes [[buffer(0)]], device int* out [[buffer(1)]]) {\n"
      "  out[0] = nodes[0].value;\n}",
      {BufferParam{.name = "nodes", .access = Access::Read},
       BufferParam{.name = "out", .access = Access::Write}});
  TL_EXPECT_OK(made.status());
}

}  // namespace
}  // namespace texloom::hal::metal
