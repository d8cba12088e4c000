// Tests misuses of memory, and their messages.
#include <cstdlib>

#include "tests/softmetal/unit/api_fixture.h"

namespace softmetal {
namespace {

using Resources = ApiTest;

TEST_F(Resources, PrivateMemoryIsNotTheHosts) {
  EXPECT_EQ([buffer(16, MTLResourceStorageModePrivate) contents], nullptr);
  expect_said("contents: the host has no access to a buffer of MTLStorageModePrivate");
  MTLTextureDescriptor* const d = descriptor(2, 2);
  d.storageMode = MTLStorageModePrivate;
  id<MTLTexture> t = texture(d);
  float texel = 0;
  [t getBytes:&texel bytesPerRow:4 fromRegion:MTLRegionMake2D(0, 0, 1, 1) mipmapLevel:0];
  expect_said("getBytes: the host has no access to a texture of MTLStorageModePrivate");
  [t replaceRegion:MTLRegionMake2D(0, 0, 1, 1) mipmapLevel:0 withBytes:&texel bytesPerRow:4];
  expect_said("replaceRegion: the host has no access");
}

TEST_F(Resources, BuffersHaveSizes) {
  EXPECT_EQ([device newBufferWithLength:0 options:0], nil);
  expect_said("newBufferWithLength: a buffer has from 1 to maxBufferLength bytes, not 0");
  EXPECT_EQ([device newBufferWithLength:[device maxBufferLength] + 1 options:0], nil);
  expect_said("from 1 to maxBufferLength");
  EXPECT_EQ([device newBufferWithLength:16 options:MTLResourceStorageModeMemoryless], nil);
  expect_said("MTLStorageModeMemoryless is for textures alone");
  void* const page = std::aligned_alloc(4096, 8192);
  auto* const inside = static_cast<char*>(page) + 16;
  EXPECT_EQ([device newBufferWithBytesNoCopy:inside length:4096 options:0 deallocator:nil], nil);
  expect_said("newBufferWithBytesNoCopy: pointer and length must be multiples of the page size");
  EXPECT_EQ([device newBufferWithBytesNoCopy:page
                                      length:4096
                                     options:MTLResourceStorageModePrivate
                                 deallocator:nil],
            nil);
  expect_said("the host's memory cannot have MTLStorageModePrivate");
  std::free(page);
  id<MTLBuffer> shared = buffer(16);
  [shared didModifyRange:NSMakeRange(0, 4)];
  expect_said("didModifyRange: the buffer must have MTLStorageModeManaged");
  id<MTLBuffer> managed = buffer(16, MTLResourceStorageModeManaged);
  [managed didModifyRange:NSMakeRange(8, 12)];
  expect_said("didModifyRange: the range must lie in the buffer");
}

TEST_F(Resources, TexturesHaveExtentsAndFormats) {
  EXPECT_EQ(texture(descriptor(0, 4)), nil);
  expect_said("newTextureWithDescriptor: extents must not be 0");
  EXPECT_EQ(texture(descriptor(16385, 1)), nil);
  expect_said("extents are over the limits of the device");
  EXPECT_EQ(texture(descriptor(4, 4, MTLPixelFormatInvalid)), nil);
  expect_said("the pixel format is not valid");
  MTLTextureDescriptor* d = descriptor(4, 4);
  d.mipmapLevelCount = 4;
  EXPECT_EQ(texture(d), nil);
  expect_said("there must be from 1 level to as many as halve the texture");
  EXPECT_EQ([discrete newTextureWithDescriptor:descriptor(4, 4)], nil);
  expect_said("a texture of a discrete device cannot have MTLStorageModeShared");
  id<MTLTexture> t = texture(descriptor(4, 4));
  EXPECT_EQ([t newTextureViewWithPixelFormat:MTLPixelFormatR32Uint], nil);
  expect_said("a view of another pixel format needs MTLTextureUsagePixelFormatView");
  EXPECT_EQ([t newTextureViewWithPixelFormat:MTLPixelFormatR16Uint], nil);
  expect_said("texels of the pixel format must have the same size");
  EXPECT_EQ([t newTextureViewWithPixelFormat:MTLPixelFormatR32Float
                                 textureType:MTLTextureType2D
                                      levels:NSMakeRange(1, 1)
                                      slices:NSMakeRange(0, 1)],
            nil);
  expect_said("levels and slices must lie in the texture");
  float texels[4] = {};
  [t getBytes:texels bytesPerRow:4 fromRegion:MTLRegionMake2D(3, 0, 2, 1) mipmapLevel:0];
  expect_said("getBytes: the region must not be empty, and must lie in the texture");
  [t getBytes:texels bytesPerRow:4 fromRegion:MTLRegionMake2D(0, 0, 2, 2) mipmapLevel:0];
  expect_said("getBytes: bytesPerRow must be a multiple of the texels' size, and not less");
}

TEST_F(Resources, ViewsOfBuffersLieInThem) {
  MTLTextureDescriptor* const d = descriptor(4, 4);
  EXPECT_EQ([buffer(64) newTextureWithDescriptor:d offset:4 bytesPerRow:16], nil);
  expect_said("offset and bytesPerRow must be multiples of 16");
  EXPECT_EQ([buffer(48) newTextureWithDescriptor:d offset:0 bytesPerRow:16], nil);
  expect_said("the rows of the texture must lie in the buffer");
  EXPECT_EQ([buffer(64, MTLResourceStorageModePrivate) newTextureWithDescriptor:d
                                                                         offset:0
                                                                    bytesPerRow:16],
            nil);
  expect_said("storage modes of texture and buffer must be equal");
  EXPECT_EQ([buffer_of(discrete, 4096) newTextureWithDescriptor:d offset:0 bytesPerRow:16], nil);
  expect_said("offset and bytesPerRow must be multiples of 256");
  d.textureType = MTLTextureType3D;
  EXPECT_EQ([buffer(64) newTextureWithDescriptor:d offset:0 bytesPerRow:16], nil);
  expect_said("a texture of a buffer must be MTLTextureType2D");
}

TEST_F(Resources, HeapsHaveOneKindOfMemory) {
  MTLHeapDescriptor* const d = [[MTLHeapDescriptor new] autorelease];
  EXPECT_EQ([device newHeapWithDescriptor:d], nil);
  expect_said("newHeapWithDescriptor: the size must not be 0");
  d.size = 4096;
  d.storageMode = MTLStorageModeManaged;
  EXPECT_EQ([device newHeapWithDescriptor:d], nil);
  expect_said("a heap cannot have MTLStorageModeManaged");
  d.storageMode = MTLStorageModePrivate;
  id<MTLHeap> heap = [[device newHeapWithDescriptor:d] autorelease];
  EXPECT_EQ([heap newBufferWithLength:16 options:0], nil);
  expect_said("storage mode and cache mode must be those of the heap");
  EXPECT_EQ([heap newBufferWithLength:16 options:MTLResourceStorageModePrivate offset:0], nil);
  expect_said("an offset is for heaps of MTLHeapTypePlacement alone");
  d.type = MTLHeapTypePlacement;
  heap = [[device newHeapWithDescriptor:d] autorelease];
  EXPECT_EQ([heap newBufferWithLength:16 options:MTLResourceStorageModePrivate], nil);
  expect_said("a heap of MTLHeapTypePlacement needs the offset of the resource");
  EXPECT_EQ([heap newBufferWithLength:16 options:MTLResourceStorageModePrivate offset:100], nil);
  expect_said("the offset must be a multiple of 256, and the resource lie in the heap");
  [buffer(16) makeAliasable];
  expect_said("makeAliasable: the resource must be in a heap");
  MTLTextureDescriptor* const t = descriptor(4, 4);
  t.storageMode = MTLStorageModePrivate;
  EXPECT_NE([[heap newTextureWithDescriptor:t offset:256] autorelease], nil);
}

TEST_F(Resources, AreNotUsedAfterTheyAreGone) {
  id<MTLBuffer> x = [device newBufferWithLength:16 options:0];
  [x setLabel:@"x"];
  [x release];
  [x release];
  expect_said("release: the buffer \"x\" was deallocated before");
  [x contents];
  expect_said("contents: the buffer \"x\" was deallocated before: it was released more often");
  [x retain];
  expect_said("retain: the buffer \"x\" was deallocated before");
}

TEST_F(Resources, LiveUntilTheirCommandsAreDone) {
  id<MTLBuffer> x = [device newBufferWithLength:16 options:0];
  id<MTLSharedEvent> event = [[device newSharedEvent] autorelease];
  id<MTLCommandBuffer> commands = [queue commandBufferWithUnretainedReferences];
  [commands encodeWaitForEvent:event value:1];
  id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
  [encoder fillBuffer:x range:NSMakeRange(0, 16) value:1];
  [encoder endEncoding];
  [commands commit];
  [x release];
  expect_said("dealloc: the buffer is needed by a command buffer that has not completed, and does "
              "not retain it");
  [event setSignaledValue:1];
  [commands waitUntilCompleted];

  x = [device newBufferWithLength:16 options:0];
  commands = [queue commandBufferWithUnretainedReferences];
  encoder = [commands blitCommandEncoder];
  [encoder fillBuffer:x range:NSMakeRange(0, 16) value:1];
  [encoder endEncoding];
  [x release];
  [commands commit];
  expect_said("commit: the buffer was deallocated after commands that use it were encoded");

  // Other command buffers retain the objects that they use.
  x = [device newBufferWithLength:16 options:0];
  commands = [queue commandBuffer];
  encoder = [commands blitCommandEncoder];
  [encoder fillBuffer:x range:NSMakeRange(0, 16) value:1];
  [encoder endEncoding];
  [x release];
  run(commands);
}

TEST_F(Resources, ManagedMemoryHasTwoCopies) {
  id<MTLCommandQueue> queue2 = [[discrete newCommandQueue] autorelease];
  id<MTLBuffer> x = buffer_of(discrete, 16, MTLResourceStorageModeManaged);
  id<MTLBuffer> seen = buffer_of(discrete, 16);
  const auto copy = [&](bool synchronizes) {
    id<MTLCommandBuffer> commands = [queue2 commandBuffer];
    id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
    [encoder copyFromBuffer:x sourceOffset:0 toBuffer:seen destinationOffset:0 size:16];
    [encoder fillBuffer:x range:NSMakeRange(8, 8) value:7];
    if (synchronizes) [encoder synchronizeResource:x];
    [encoder endEncoding];
    run(commands);
  };
  contents<int>(x)[0] = 1;
  contents<int>(x)[1] = 2;
  [x didModifyRange:NSMakeRange(4, 4)];
  copy(false);
  EXPECT_EQ(contents<int>(seen)[0], 0) << "the device's copy of what was not flushed";
  EXPECT_EQ(contents<int>(seen)[1], 2);
  EXPECT_EQ(contents<int>(x)[0], 1);
  EXPECT_EQ(contents<int>(x)[2], 0) << "the host's copy before it is synchronized";
  copy(true);
  EXPECT_EQ(contents<int>(x)[2], 0x07070707);
  EXPECT_EQ(contents<int>(x)[0], 0) << "what was not flushed is lost";
  EXPECT_EQ(contents<int>(x)[1], 2);
}

TEST_F(Resources, WidthsOfSimdgroupsAreThoseOfTheDevice) {
  const char* const source =
      "kernel void width(device uint* x [[buffer(0)]], "
      "uint lane [[thread_index_in_simdgroup]], uint width [[threads_per_simdgroup]], "
      "uint i [[thread_position_in_grid]]) { x[i] = 100 * width + lane; }";
  for (id<MTLDevice> each in devices) {
    id<MTLComputePipelineState> width = pipeline_of(each, source);
    EXPECT_EQ([width threadExecutionWidth], each == device ? 32U : 8U);
    id<MTLBuffer> x = buffer_of(each, 64);
    id<MTLCommandBuffer> commands = [[[each newCommandQueue] autorelease] commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:width];
    [encoder setBuffer:x offset:0 atIndex:0];
    [encoder dispatchThreadgroups:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(16, 1, 1)];
    [encoder endEncoding];
    run(commands);
    EXPECT_EQ(contents<uint32_t>(x)[9], each == device ? 3209U : 801U);
  }
}

}  // namespace
}  // namespace softmetal
