// Tests misuses of command buffers and encoders, and their messages.
#include <vector>

#include "tests/softmetal/unit/api_fixture.h"

namespace softmetal {
namespace {

using Commands = ApiTest;

TEST_F(Commands, OneEncoderIsOpenAtATime) {
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
  EXPECT_EQ([commands computeCommandEncoder], nil);
  expect_said("computeCommandEncoder: another command encoder is open; call endEncoding first");
  EXPECT_EQ([commands blitCommandEncoder], nil);
  expect_said("blitCommandEncoder: another command encoder is open");
  id<MTLEvent> event = [[device newEvent] autorelease];
  [commands encodeSignalEvent:event value:1];
  expect_said("encodeSignalEvent: another command encoder is open");
  [commands encodeWaitForEvent:event value:1];
  expect_said("encodeWaitForEvent: another command encoder is open");
  [commands commit];
  expect_said("commit: another command encoder is open");
  [encoder endEncoding];
}

TEST_F(Commands, NothingIsEncodedAfterTheEnd) {
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
  [blit endEncoding];
  [blit endEncoding];
  expect_said("endEncoding: the command encoder has ended");
  [blit fillBuffer:buffer(4) range:NSMakeRange(0, 4) value:0];
  expect_said("fillBuffer: the command encoder has ended: nothing can be encoded");
  id<MTLComputeCommandEncoder> compute = [commands computeCommandEncoder];
  [compute endEncoding];
  [compute setBuffer:nil offset:0 atIndex:0];
  expect_said("setBuffer: the command encoder has ended");
  [compute memoryBarrierWithScope:MTLBarrierScopeBuffers];
  expect_said("memoryBarrierWithScope: the command encoder has ended");
}

TEST_F(Commands, NothingIsEncodedAfterCommit) {
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  [commands waitUntilCompleted];
  expect_said("waitUntilCompleted: the command buffer was not committed");
  [commands waitUntilScheduled];
  expect_said("waitUntilScheduled: the command buffer was not committed");
  [commands commit];
  EXPECT_EQ([commands blitCommandEncoder], nil);
  expect_said("blitCommandEncoder: the command buffer was committed before");
  [commands commit];
  expect_said("commit: the command buffer was committed before");
  [commands addCompletedHandler:^(id<MTLCommandBuffer>){
  }];
  expect_said("addCompletedHandler: the command buffer was committed before");
  [commands encodeSignalEvent:[[device newEvent] autorelease] value:1];
  expect_said("encodeSignalEvent: the command buffer was committed before");
  [commands waitUntilCompleted];
}

TEST_F(Commands, EncodersEnd) {
  @autoreleasepool {
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    [commands blitCommandEncoder];
  }
  expect_said("a command encoder was released without endEncoding");
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder popDebugGroup];
  expect_said("popDebugGroup: no debug group is open");
  [encoder pushDebugGroup:@"group"];
  [encoder endEncoding];
  expect_said("endEncoding: a debug group is open");
  [commands popDebugGroup];
  expect_said("popDebugGroup: no debug group is open");
}

TEST_F(Commands, FencesAreUpdatedBeforeTheyAreWaitedFor) {
  id<MTLFence> fence = [[device newFence] autorelease];
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
  [encoder waitForFence:fence];
  [encoder endEncoding];
  run(commands);
  expect_said("waitForFence: no encoder before has updated the fence");
  EXPECT_EQ([commands status], MTLCommandBufferStatusError);
  commands = [queue commandBuffer];
  encoder = [commands blitCommandEncoder];
  [encoder updateFence:fence];
  [encoder waitForFence:fence];
  expect_said("waitForFence: the encoder itself has updated the fence");
  [encoder endEncoding];
}

TEST_F(Commands, FencesOfFailedCommandBuffersAreUpdated) {
  id<MTLFence> fence = [[device newFence] autorelease];
  id<MTLCommandBuffer> first = [queue commandBuffer], second = [queue commandBuffer];
  id<MTLBlitCommandEncoder> encoder = [first blitCommandEncoder];
  [encoder updateFence:fence];
  [encoder endEncoding];
  encoder = [second blitCommandEncoder];
  [encoder waitForFence:fence];
  [encoder endEncoding];
  fail_call(1);
  [first commit];
  fail_call(0);
  run(second);
  EXPECT_THAT([[[first error] localizedDescription] UTF8String], testing::HasSubstr(kFaultText));
  EXPECT_EQ([second status], MTLCommandBufferStatusCompleted);
}

TEST_F(Commands, ValuesOfEventsGrow) {
  id<MTLSharedEvent> event = [[device newSharedEvent] autorelease];
  [event setSignaledValue:5];
  [event setSignaledValue:4];
  expect_said("signaledValue: the value of an event must not go backwards, from 5 to 4");
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  [commands encodeSignalEvent:event value:3];
  run(commands);
  expect_said("encodeSignalEvent: the value of an event must not go backwards, from 5 to 3");
  EXPECT_EQ([commands status], MTLCommandBufferStatusError);
  EXPECT_EQ([event signaledValue], 5U);
  [event notifyListener:(MTLSharedEventListener* _Nonnull)nil
                atValue:6
                  block:^(id<MTLSharedEvent>, uint64_t){
                  }];
  expect_said("notifyListener: the listener and the block must not be nil");
}

TEST_F(Commands, ObjectsBelongToTheDevice) {
  const auto foreign = buffer_of(discrete, 16);
  id<MTLTexture> foreign_texture = nil;
  MTLTextureDescriptor* const d = descriptor(2, 2);
  d.storageMode = MTLStorageModePrivate;
  foreign_texture = [[discrete newTextureWithDescriptor:d] autorelease];
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> compute = [commands computeCommandEncoder];
  [compute setComputePipelineState:pipeline_of(discrete, "kernel void nothing() {}")];
  expect_said("setComputePipelineState: the state belongs to another device");
  [compute setBuffer:foreign offset:0 atIndex:0];
  expect_said("setBuffer: the buffer belongs to another device");
  [compute setTexture:foreign_texture atIndex:0];
  expect_said("setTexture: the texture belongs to another device");
  [compute useResource:foreign usage:MTLResourceUsageRead];
  expect_said("useResource: the resource belongs to another device");
  id<MTLFence> fence = [[discrete newFence] autorelease];
  [compute updateFence:fence];
  expect_said("updateFence: the fence belongs to another device");
  [compute memoryBarrierWithResources:&foreign count:1];
  expect_said("memoryBarrierWithResources: a resource belongs to another device");
  [compute endEncoding];
  id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
  [blit copyFromBuffer:foreign sourceOffset:0 toBuffer:buffer(16) destinationOffset:0 size:4];
  expect_said("copyFromBuffer: the source belongs to another device");
  [blit endEncoding];
  [commands encodeWaitForEvent:[[discrete newEvent] autorelease] value:1];
  expect_said("encodeWaitForEvent: the event belongs to another device, and is not shared");
  id<MTLLibrary> library = [[discrete newLibraryWithSource:@"kernel void f() {}"
                                                   options:nil
                                                     error:nullptr] autorelease];
  id<MTLFunction> f = [[library newFunctionWithName:@"f"] autorelease];
  EXPECT_EQ([device newComputePipelineStateWithFunction:f error:nullptr], nil);
  expect_said("newComputePipelineState: the function belongs to another device");
}

TEST_F(Commands, ArgumentsHavePlaces) {
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState:(id<MTLComputePipelineState> _Nonnull)nil];
  expect_said("setComputePipelineState: the state must not be nil");
  [encoder setBuffer:buffer(16) offset:16 atIndex:0];
  expect_said("setBuffer: the offset must lie in the buffer");
  [encoder setBuffer:buffer(16) offset:0 atIndex:31];
  expect_said("setBuffer: the index must be below 31");
  [encoder setBufferOffset:0 atIndex:3];
  expect_said("setBufferOffset: no buffer is bound at the index");
  const std::vector<uint8_t> bytes(5000);
  [encoder setBytes:bytes.data() length:5000 atIndex:0];
  expect_said("setBytes: the length must be from 1 to 4096 bytes");
  [encoder setTexture:nil atIndex:128];
  expect_said("setTexture: the index must be below 128");
  [encoder setSamplerState:nil atIndex:16];
  expect_said("setSamplerState: the index must be below 16");
  [encoder setThreadgroupMemoryLength:8 atIndex:0];
  expect_said("setThreadgroupMemoryLength: the length must be a multiple of 16 bytes");
  [encoder memoryBarrierWithScope:0];
  expect_said("memoryBarrierWithScope: the scope is empty");
  [encoder useResource:buffer(16) usage:MTLResourceUsageSample];
  expect_said("useResource: the usage must be for reading or writing");
  [encoder endEncoding];
}

TEST_F(Commands, DispatchesKeepToLimits) {
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  const MTLSize one = MTLSizeMake(1, 1, 1);
  [encoder dispatchThreadgroups:one threadsPerThreadgroup:one];
  expect_said("dispatchThreadgroups: no pipeline state is set");
  [encoder setComputePipelineState:pipeline("[[max_total_threads_per_threadgroup(32)]]\n"
                                            "kernel void limited(device int* x [[buffer(0)]]) "
                                            "{ threadgroup int a[8184]; a[0] = 1; x[0] = a[0]; }")];
  [encoder dispatchThreadgroups:one threadsPerThreadgroup:MTLSizeMake(11, 3, 1)];
  expect_said("more threads per threadgroup than maxTotalThreadsPerThreadgroup");
  [encoder dispatchThreads:MTLSizeMake(64, 1, 1) threadsPerThreadgroup:MTLSizeMake(64, 1, 1)];
  expect_said("dispatchThreads: more threads per threadgroup than");
  [encoder dispatchThreadgroups:one threadsPerThreadgroup:one];
  expect_said("buffer 0, \"x\", is not bound");
  [encoder setBuffer:buffer(16) offset:2 atIndex:0];
  [encoder dispatchThreadgroups:one threadsPerThreadgroup:one];
  expect_said("is bound at an address that is no multiple of 4");
  [encoder setBuffer:buffer(16) offset:0 atIndex:0];
  [encoder setThreadgroupMemoryLength:64 atIndex:0];
  [encoder dispatchThreadgroups:one threadsPerThreadgroup:one];
  expect_said("32800 bytes of threadgroup memory are over the limit of 32768");
  [encoder dispatchThreadgroupsWithIndirectBuffer:buffer(16)
                             indirectBufferOffset:8
                            threadsPerThreadgroup:one];
  expect_said("the offset must be a multiple of 4, and 12 bytes from there lie in the buffer");
  [encoder endEncoding];
}

TEST_F(Commands, PipelinesKeepToLimits) {
  NSError* error = nil;
  EXPECT_EQ([device newComputePipelineStateWithFunction:(id<MTLFunction> _Nonnull)nil error:&error],
            nil);
  expect_said("newComputePipelineState: the function must not be nil");
  id<MTLLibrary> library =
      [[device newLibraryWithSource:@"#include <metal_stdlib>\nusing namespace metal;\n"
                                     "kernel void f(device int* x [[buffer(0)]]) "
                                     "{ threadgroup int a[9000]; a[0] = 1; x[0] = a[0]; }"
                            options:nil
                              error:&error] autorelease];
  id<MTLFunction> f = [[library newFunctionWithName:@"f"] autorelease];
  EXPECT_EQ([device newComputePipelineStateWithFunction:f error:&error], nil);
  EXPECT_THAT([[error localizedDescription] UTF8String],
              testing::HasSubstr("36000 bytes of threadgroup memory"));
  MTLComputePipelineDescriptor* const d = [[MTLComputePipelineDescriptor new] autorelease];
  d.computeFunction = f;
  d.maxTotalThreadsPerThreadgroup = 2048;
  EXPECT_EQ([device newComputePipelineStateWithDescriptor:d
                                                  options:0
                                               reflection:nullptr
                                                    error:&error],
            nil);
  expect_said("maxTotalThreadsPerThreadgroup is over the limit of 1024");
}

TEST_F(Commands, ThreadgroupsAreMultiplesOfSimdgroupsIfPromised) {
  NSError* error = nil;
  id<MTLLibrary> library = [[device newLibraryWithSource:@"kernel void f() {}"
                                                 options:nil
                                                   error:&error] autorelease];
  MTLComputePipelineDescriptor* const d = [[MTLComputePipelineDescriptor new] autorelease];
  d.computeFunction = [[library newFunctionWithName:@"f"] autorelease];
  d.threadGroupSizeIsMultipleOfThreadExecutionWidth = YES;
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder
      setComputePipelineState:[[device newComputePipelineStateWithDescriptor:d
                                                                     options:0
                                                                  reflection:nullptr
                                                                       error:&error] autorelease]];
  [encoder dispatchThreadgroups:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(48, 1, 1)];
  expect_said("the threadgroup is no multiple of threadExecutionWidth");
  [encoder endEncoding];
}

TEST_F(Commands, TexturesFitTheKernel) {
  id<MTLComputePipelineState> write =
      pipeline("kernel void write(texture2d<float, access::write> t [[texture(0)]]) "
               "{ t.write(float4(1.0f), uint2(0, 0)); }");
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState:write];
  const MTLSize one = MTLSizeMake(1, 1, 1);
  [encoder dispatchThreadgroups:one threadsPerThreadgroup:one];
  expect_said("texture 0, \"t\", is not bound");
  [encoder setTexture:texture(descriptor(2, 2, MTLPixelFormatR32Float, MTLTextureUsageShaderRead))
              atIndex:0];
  [encoder dispatchThreadgroups:one threadsPerThreadgroup:one];
  expect_said("is one that was not made to be written");
  [encoder setTexture:texture(descriptor(2, 2, MTLPixelFormatR32Uint)) atIndex:0];
  [encoder dispatchThreadgroups:one threadsPerThreadgroup:one];
  expect_said("has the format R32Uint, but the kernel takes texels of float");
  MTLTextureDescriptor* const d = descriptor(2, 2);
  d.textureType = MTLTextureType2DArray;
  [encoder setTexture:texture(d) atIndex:0];
  [encoder dispatchThreadgroups:one threadsPerThreadgroup:one];
  expect_said("is a texture2d_array, but the kernel takes a texture2d");
  [encoder setComputePipelineState:
               pipeline("kernel void read(texture2d<float, access::read> t [[texture(0)]], "
                        "device float* x [[buffer(0)]]) { x[0] = t.read(uint2(0, 0)).x; }")];
  [encoder setTexture:texture(descriptor(2, 2, MTLPixelFormatR32Float, MTLTextureUsageShaderWrite))
              atIndex:0];
  [encoder setBuffer:buffer(4) offset:0 atIndex:0];
  [encoder dispatchThreadgroups:one threadsPerThreadgroup:one];
  expect_said("is one that was not made to be read");
  [encoder endEncoding];
}

TEST_F(Commands, BlitsOfBuffersKeepToTheirRanges) {
  id<MTLBuffer> x = buffer(16);
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
  [encoder fillBuffer:x range:NSMakeRange(1, 4) value:0];
  expect_said("fillBuffer: location and length must be multiples of 4 bytes");
  [encoder fillBuffer:x range:NSMakeRange(8, 12) value:0];
  expect_said("fillBuffer: the range must not be empty, and must lie in the buffer");
  [encoder copyFromBuffer:x sourceOffset:2 toBuffer:buffer(8) destinationOffset:0 size:4];
  expect_said("copyFromBuffer: offsets and size must be multiples of 4 bytes");
  [encoder copyFromBuffer:x sourceOffset:0 toBuffer:x destinationOffset:4 size:8];
  expect_said("copyFromBuffer: source and destination must not overlap");
  [encoder copyFromBuffer:x sourceOffset:0 toBuffer:buffer(8) destinationOffset:0 size:12];
  expect_said("copyFromBuffer: the ranges must not be empty, and must lie in the buffers");
  [encoder synchronizeResource:x];
  expect_said("synchronizeResource: the resource must have MTLStorageModeManaged");
  [encoder endEncoding];
}

TEST_F(Commands, BlitsOfTexturesKeepToTheirRegions) {
  id<MTLTexture> t = texture(descriptor(4, 4));
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
  const auto upload = [&](NSUInteger offset, NSUInteger bytes_per_row, NSUInteger width,
                          NSUInteger level = 0) {
    [encoder copyFromBuffer:buffer(64)
               sourceOffset:offset
          sourceBytesPerRow:bytes_per_row
        sourceBytesPerImage:0
                 sourceSize:MTLSizeMake(width, 4, 1)
                  toTexture:t
           destinationSlice:0
           destinationLevel:level
          destinationOrigin:MTLOriginMake(0, 0, 0)];
  };
  upload(2, 16, 4);
  expect_said("copyFromBuffer: the offset must be a multiple of the texels' size");
  upload(0, 12, 4);
  expect_said("copyFromBuffer: bytesPerRow must be a multiple of the texels' size, and not less");
  upload(0, 17, 4);
  expect_said("copyFromBuffer: bytesPerRow must be a multiple of the texels' size");
  upload(0, 32768 * 4, 4);
  expect_said("copyFromBuffer: bytesPerRow must not be over 32767 texels");
  upload(4, 16, 4);
  expect_said("copyFromBuffer: the rows must lie in the buffer");
  upload(0, 20, 5);
  expect_said("copyFromBuffer: the region must not be empty, and must lie in the texture");
  upload(0, 16, 4, 1);
  expect_said("copyFromBuffer: level and slice must be those of the texture");
  const auto copy = [&](id<MTLTexture> to, NSUInteger x) {
    [encoder copyFromTexture:t
                 sourceSlice:0
                 sourceLevel:0
                sourceOrigin:MTLOriginMake(0, 0, 0)
                  sourceSize:MTLSizeMake(2, 2, 1)
                   toTexture:to
            destinationSlice:0
            destinationLevel:0
           destinationOrigin:MTLOriginMake(x, 0, 0)];
  };
  copy(t, 1);
  expect_said("copyFromTexture: source and destination must not overlap");
  copy(texture(descriptor(4, 4, MTLPixelFormatR32Uint)), 0);
  expect_said("copyFromTexture: both textures must have the same pixel format");
  copy(texture(descriptor(4, 4)), 3);
  expect_said("copyFromTexture: the region must not be empty, and must lie in the texture");
  copy(t, 2);
  [encoder endEncoding];
}

}  // namespace
}  // namespace softmetal
