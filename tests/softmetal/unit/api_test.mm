// The Metal API over the executor: what programs compute, and what misuses are told.
#import <Metal/Metal.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/softmetal/api/classes/validation.h"

namespace softmetal {
namespace {

class ApiTest : public testing::Test {
 protected:
  void SetUp() override {
    pool = [NSAutoreleasePool new];
    device = MTLCreateSystemDefaultDevice();
    queue = [device newCommandQueue];
    before = set_misuse_hook([this](const std::string& text) { said += text + "\n"; });
  }
  void TearDown() override {
    [queue release];
    [device release];
    [pool drain];
    set_misuse_hook(before);
  }
  id<MTLBuffer> buffer(NSUInteger length, MTLResourceOptions options = 0) {
    return [[device newBufferWithLength:length options:options] autorelease];
  }
  void expect_said(const char* text) {
    EXPECT_THAT(said, testing::HasSubstr(text));
    said.clear();
  }

  NSAutoreleasePool* pool = nil;
  id<MTLDevice> device = nil;
  id<MTLCommandQueue> queue = nil;
  MisuseHook before;
  std::string said;
};

TEST_F(ApiTest, RunsAKernelFromSource) {
  NSError* error = nil;
  id<MTLLibrary> library = [device
      newLibraryWithSource:@"#include <metal_stdlib>\nusing namespace metal;\n"
                            "kernel void add(device float* x [[buffer(0)]], constant float& y "
                            "[[buffer(1)]], uint i [[thread_position_in_grid]]) { x[i] += y; }"
                   options:nil
                     error:&error];
  ASSERT_NE(library, nil);
  id<MTLFunction> function = [library newFunctionWithName:@"add"];
  EXPECT_EQ([library newFunctionWithName:@"none"], nil);
  id<MTLComputePipelineState> pipeline = [device newComputePipelineStateWithFunction:function
                                                                               error:&error];
  id<MTLBuffer> x = buffer(32);
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  const float y = 2;
  [encoder setComputePipelineState:pipeline];
  [encoder setBuffer:x offset:0 atIndex:0];
  [encoder setBytes:&y length:4 atIndex:1];
  [encoder dispatchThreadgroups:MTLSizeMake(2, 1, 1) threadsPerThreadgroup:MTLSizeMake(4, 1, 1)];
  [encoder endEncoding];
  [commands commit];
  [commands waitUntilCompleted];
  EXPECT_EQ([commands status], MTLCommandBufferStatusCompleted);
  EXPECT_EQ(static_cast<float*>([x contents])[7], 2);
  [pipeline release];
  [function release];
  [library release];
  EXPECT_EQ(said, "");
}

TEST_F(ApiTest, TellsWhyAProgramDoesNotCompile) {
  NSError* error = nil;
  EXPECT_EQ([device newLibraryWithSource:@"kernel void f() { x; }" options:nil error:&error], nil);
  EXPECT_THAT([[error localizedDescription] UTF8String], testing::HasSubstr("program_source:1"));
}

TEST_F(ApiTest, EventsOrderQueuesAndTheHost) {
  id<MTLSharedEvent> event = [device newSharedEvent];
  id<MTLBuffer> x = buffer(16);
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  [commands encodeWaitForEvent:event value:1];
  id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
  [encoder fillBuffer:x range:NSMakeRange(4, 8) value:7];
  [encoder endEncoding];
  [commands encodeSignalEvent:event value:2];
  [commands commit];
  EXPECT_EQ([event signaledValue], 0U);
  [event setSignaledValue:1];
  [commands waitUntilCompleted];
  EXPECT_EQ([event signaledValue], 2U);
  EXPECT_EQ(static_cast<uint8_t*>([x contents])[3], 0);
  EXPECT_EQ(static_cast<uint8_t*>([x contents])[4], 7);
  [event setSignaledValue:1];
  expect_said("must not go backwards");
  [event release];
}

TEST_F(ApiTest, RefusesWrongEncoding) {
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  [commands waitUntilCompleted];
  expect_said("was not committed");
  id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
  EXPECT_EQ([commands computeCommandEncoder], nil);
  expect_said("another command encoder is open");
  [commands commit];
  expect_said("another command encoder is open");
  [encoder endEncoding];
  [encoder endEncoding];
  expect_said("nothing can be encoded after endEncoding");
  [commands commit];
  EXPECT_EQ([commands blitCommandEncoder], nil);
  expect_said("was committed before");
  [commands waitUntilCompleted];
}

TEST_F(ApiTest, RefusesWrongBlits) {
  id<MTLBuffer> x = buffer(16);
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
  [encoder fillBuffer:x range:NSMakeRange(1, 4) value:0];
  expect_said("multiples of 4 bytes");
  [encoder fillBuffer:x range:NSMakeRange(8, 12) value:0];
  expect_said("must lie in the buffer");
  [encoder copyFromBuffer:x sourceOffset:0 toBuffer:x destinationOffset:4 size:8];
  expect_said("must not overlap");
  [encoder copyFromBuffer:x sourceOffset:0 toBuffer:buffer(8) destinationOffset:0 size:12];
  expect_said("must lie in the buffers");
  [encoder synchronizeResource:x];
  expect_said("MTLStorageModeManaged");
  [encoder endEncoding];
}

TEST_F(ApiTest, RefusesWrongComputeCommands) {
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder dispatchThreadgroups:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
  expect_said("no pipeline state is set");
  [encoder setBuffer:buffer(16) offset:16 atIndex:0];
  expect_said("the offset must lie in the buffer");
  [encoder setBuffer:buffer(16) offset:0 atIndex:31];
  expect_said("below 31");
  [encoder setBufferOffset:0 atIndex:3];
  expect_said("no buffer is bound");
  std::vector<uint8_t> bytes(5000);
  [encoder setBytes:bytes.data() length:5000 atIndex:0];
  expect_said("from 1 to 4096");
  [encoder setThreadgroupMemoryLength:8 atIndex:0];
  expect_said("multiple of 16");
  [encoder endEncoding];
}

TEST_F(ApiTest, RefusesWrongResources) {
  EXPECT_EQ([buffer(16, MTLResourceStorageModePrivate) contents], nullptr);
  expect_said("no access");
  EXPECT_EQ([device newBufferWithLength:0 options:0], nil);
  expect_said("from 1 to maxBufferLength");
  MTLTextureDescriptor* d =
      [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:MTLPixelFormatR32Float
                                                         width:4
                                                        height:4
                                                     mipmapped:NO];
  EXPECT_EQ([buffer(64) newTextureWithDescriptor:d offset:4 bytesPerRow:16], nil);
  expect_said("multiples of 16");
  EXPECT_EQ([buffer(48) newTextureWithDescriptor:d offset:0 bytesPerRow:16], nil);
  expect_said("must lie in the buffer");
}

}  // namespace
}  // namespace softmetal
