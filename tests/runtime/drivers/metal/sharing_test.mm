// Tests which Metal objects of an application the driver takes, and programs in C that share them.
#import <Metal/Metal.h>

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string>

#include "runtime/c_api/texloom.h"
#include "runtime/drivers/metal/driver.h"
#include "runtime/package/package_writer.h"
#include "tests/runtime/plan/plan_fixture.h"
#include "tests/runtime/status_matchers.h"

namespace texloom::hal::metal {
namespace {

constexpr std::size_t kItems = 64;
constexpr std::size_t kBytes = kItems * sizeof(float);

class Sharing : public ::testing::Test {
 protected:
  void SetUp() override {
    device_ = MTLCreateSystemDefaultDevice();
    queue_ = [device_ newCommandQueue];
  }
  void TearDown() override {
    [queue_ release];
    [device_ release];
  }
  id<MTLTexture> make_texture(MTLTextureType type, NSUInteger levels, NSUInteger layers = 1,
                              NSUInteger samples = 1) {
    MTLTextureDescriptor* descriptor = [[[MTLTextureDescriptor alloc] init] autorelease];
    descriptor.textureType = type;
    descriptor.pixelFormat = MTLPixelFormatRGBA32Float;
    descriptor.width = descriptor.height = 8;
    descriptor.mipmapLevelCount = levels;
    descriptor.arrayLength = layers;
    descriptor.sampleCount = samples;
    descriptor.usage = MTLTextureUsageShaderRead | MTLTextureUsagePixelFormatView;
    descriptor.storageMode = MTLStorageModePrivate;
    return [[device_ newTextureWithDescriptor:descriptor] autorelease];
  }

  id<MTLDevice> device_ = nil;
  id<MTLCommandQueue> queue_ = nil;
};

TEST_F(Sharing, OnlyPlainTexturesAreWrapped) {
  @autoreleasepool {
    const auto driver = create_driver();
    TL_ASSERT_OK(driver.status());
    const auto device = (*driver)->open_native({.device = (void*)device_, .queue = (void*)queue_});
    TL_ASSERT_OK(device.status());
    const auto expect_refused = [&](id<MTLTexture> texture, const char* words) {
      ASSERT_TRUE(texture != nil);
      const Status status = (*device)->allocator()->wrap_texture((void*)texture).status();
      EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
      EXPECT_NE(status.message().find(words), std::string::npos) << status.message();
    };
    const id<MTLTexture> plain = make_texture(MTLTextureType2D, 1);
    TL_EXPECT_OK((*device)->allocator()->wrap_texture((void*)plain).status());
    expect_refused(make_texture(MTLTextureType2D, 3), "of one level");
    expect_refused(make_texture(MTLTextureType2DArray, 1, 2), "of one level");
    expect_refused([[plain newTextureViewWithPixelFormat:MTLPixelFormatRGBA32Float] autorelease],
                   "is a view of another object");
    const id<MTLBuffer> buffer =
        [[device_ newBufferWithLength:4096 options:MTLResourceStorageModePrivate] autorelease];
    MTLTextureDescriptor* descriptor =
        [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:MTLPixelFormatRGBA32Float
                                                           width:16
                                                          height:4
                                                       mipmapped:NO];
    descriptor.storageMode = MTLStorageModePrivate;
    expect_refused([[buffer newTextureWithDescriptor:descriptor offset:0
                                         bytesPerRow:256] autorelease],
                   "is a view of another object");
  }
}

// "out" = "in" * 3.
runtime::Package triple_package() {
  using namespace runtime;
  constexpr const char* kSource = R"(
#include <metal_stdlib>
using namespace metal;
kernel void triple(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  out[i] = in[i] * 3.0f;
}
)";
  Package package;
  package.name = "triple";
  for (const auto& [name, role] :
       {std::pair("in", TensorRole::Input), std::pair("out", TensorRole::Output)}) {
    PackageTensor tensor;
    tensor.name = name;
    tensor.role = role;
    tensor.shape = {kItems};
    package.tensors.push_back(tensor);
  }
  package.nodes = {{.name = "triple", .op = "multiply", .inputs = {0}, .outputs = {1}}};
  package.inputs = {0};
  package.outputs = {1};
  PackageVariant variant;
  variant.target = "metal";
  variant.plan =
      TestPlan{.arguments = {buffer_tensor("X", kBytes), buffer_tensor("Y", kBytes)},
               .kernels = {{.codes = {{.format = KernelFormat::Msl, .code = kSource}},
                            .entry = {.name = "triple",
                                      .params = {BufferParam{.name = "in", .min_bytes = kBytes},
                                                 BufferParam{.name = "out",
                                                             .access = Access::Write,
                                                             .min_bytes = kBytes}}}}},
               .steps = {launch(0, {kItems, 1, 1}, {argument(0), argument(1)})}};
  variant.stores = {{TensorRef{TensorRef::Kind::Argument, 0}, 0, "global"},
                    {TensorRef{TensorRef::Kind::Argument, 1}, 1, "global"}};
  variant.nodes = {0};
  package.variants = {std::move(variant)};
  return package;
}

using CApiOverSharedMetal = Sharing;

// Only the order in the queue makes the values right: the host waits at the end alone.
TEST_F(CApiOverSharedMetal, AGraphUsesTheApplicationsMemoryInItsQueue) {
  const auto expect_ok = [](texloom_error* error) {
    EXPECT_STREQ(texloom_error_message(error), "");
    texloom_error_free(error);
  };
  const auto file = std::filesystem::temp_directory_path() / "texloom_c_api_over_metal.tlp";
  TL_ASSERT_OK(runtime::write_package(triple_package(), file));
  @autoreleasepool {
    const MTLResourceOptions options = MTLResourceStorageModeShared;
    const id<MTLBuffer> given = [device_ newBufferWithLength:kBytes options:options];
    const id<MTLBuffer> in = [device_ newBufferWithLength:kBytes options:options];
    const id<MTLBuffer> out = [device_ newBufferWithLength:kBytes options:options];
    std::array<float, kItems> values = {};
    for (std::size_t i = 0; i < kItems; ++i) values[i] = static_cast<float>(i);
    std::memcpy([given contents], values.data(), kBytes);

    texloom_device* device = nullptr;
    texloom_graph* graph = nullptr;
    texloom_executor* executor = nullptr;
    texloom_buffer *wrapped_in = nullptr, *wrapped_out = nullptr;
    expect_ok(texloom_device_open_metal((void*)device_, (void*)queue_, &device));
    ASSERT_NE(device, nullptr);
    expect_ok(texloom_graph_load(device, file.c_str(), &graph));
    expect_ok(texloom_executor_create(graph, &executor));
    expect_ok(texloom_buffer_wrap(device, (void*)in, &wrapped_in));
    expect_ok(texloom_buffer_wrap(device, (void*)out, &wrapped_out));
    expect_ok(texloom_bind_input(executor, 0, wrapped_in, 0));
    expect_ok(texloom_bind_output(executor, 0, wrapped_out, 0));

    id<MTLCommandBuffer> commands = [queue_ commandBuffer];
    id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
    [encoder copyFromBuffer:given sourceOffset:0 toBuffer:in destinationOffset:0 size:kBytes];
    [encoder endEncoding];
    [commands commit];
    expect_ok(texloom_submit(executor));
    commands = [queue_ commandBuffer];
    encoder = [commands blitCommandEncoder];
    [encoder copyFromBuffer:out sourceOffset:0 toBuffer:given destinationOffset:0 size:kBytes];
    [encoder endEncoding];
    [commands commit];
    texloom_buffer_free(wrapped_in);
    texloom_buffer_free(wrapped_out);
    texloom_executor_free(executor);
    texloom_graph_free(graph);
    texloom_device_free(device);
    [commands waitUntilCompleted];

    std::array<float, kItems> result = {};
    std::memcpy(result.data(), [given contents], kBytes);
    for (float& value : values) value *= 3;
    EXPECT_EQ(result, values);
    [given release];
    [in release];
    [out release];
  }
  std::filesystem::remove(file);
}

TEST_F(CApiOverSharedMetal, WhatCannotBeSharedIsRefused) {
  texloom_device* device = nullptr;
  texloom_error* error = texloom_device_open_metal(nullptr, (void*)queue_, &device);
  EXPECT_STREQ(texloom_error_message(error), "open_native: the device is null");
  EXPECT_EQ(texloom_error_code(error), TEXLOOM_INVALID_ARGUMENT);
  texloom_error_free(error);
  EXPECT_EQ(device, nullptr);
}

}  // namespace
}  // namespace texloom::hal::metal
