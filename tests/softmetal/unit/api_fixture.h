// A fixture for tests of the Metal API: a device, a queue, and the reported misuses. For
// Objective-C++ sources only.
#pragma once

#import <Metal/Metal.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <string>

#include "tests/softmetal/api/classes/checks/faults.h"
#include "tests/softmetal/api/classes/checks/validation.h"

namespace softmetal {

class ApiTest : public testing::Test {
 protected:
  void SetUp() override {
    pool = [NSAutoreleasePool new];
    devices = [MTLCopyAllDevices() autorelease];
    device = [devices objectAtIndex:0];
    discrete = [devices objectAtIndex:1];
    queue = [[device newCommandQueue] autorelease];
    before = set_misuse_hook([this](const std::string& text) {
      const std::lock_guard lock(mutex);
      said += text + "\n";
    });
  }
  void TearDown() override {
    [pool drain];
    set_misuse_hook(before);
    EXPECT_EQ(said, "");
  }

  // The results of these functions are autoreleased.
  id<MTLBuffer> buffer(NSUInteger length, MTLResourceOptions options = 0) {
    return buffer_of(device, length, options);
  }
  static id<MTLBuffer> buffer_of(id<MTLDevice> device, NSUInteger length,
                                 MTLResourceOptions options = 0) {
    return [[device newBufferWithLength:length options:options] autorelease];
  }
  static MTLTextureDescriptor* descriptor(NSUInteger width, NSUInteger height,
                                          MTLPixelFormat format = MTLPixelFormatR32Float,
                                          MTLTextureUsage usage = MTLTextureUsageShaderRead |
                                                                  MTLTextureUsageShaderWrite) {
    MTLTextureDescriptor* const d = [MTLTextureDescriptor texture2DDescriptorWithPixelFormat:format
                                                                                       width:width
                                                                                      height:height
                                                                                   mipmapped:NO];
    d.usage = usage;
    return d;
  }
  id<MTLTexture> texture(MTLTextureDescriptor* d) {
    return [[device newTextureWithDescriptor:d] autorelease];
  }
  // Returns the pipeline of the source's first kernel; adds the usual includes before the source.
  static id<MTLComputePipelineState> pipeline_of(id<MTLDevice> device, const std::string& source) {
    NSError* error = nil;
    const std::string whole = "#include <metal_stdlib>\nusing namespace metal;\n" + source;
    id<MTLLibrary> library =
        [[device newLibraryWithSource:[NSString stringWithUTF8String:whole.c_str()]
                              options:nil
                                error:&error] autorelease];
    EXPECT_NE(library, nil) << [[error localizedDescription] UTF8String];
    id<MTLFunction> function =
        [[library newFunctionWithName:[library.functionNames objectAtIndex:0]] autorelease];
    return [[device newComputePipelineStateWithFunction:function error:&error] autorelease];
  }
  id<MTLComputePipelineState> pipeline(const std::string& source) {
    return pipeline_of(device, source);
  }
  id<MTLComputePipelineState> increment() {
    return pipeline("kernel void increment(device int* x [[buffer(0)]], "
                    "uint i [[thread_position_in_grid]]) { x[i] += 1; }");
  }
  static void run(id<MTLCommandBuffer> commands) {
    [commands commit];
    [commands waitUntilCompleted];
  }
  // Runs one thread of the pipeline over the buffer.
  static void dispatch(id<MTLComputeCommandEncoder> encoder, id<MTLComputePipelineState> pipeline,
                       id<MTLBuffer> x) {
    [encoder setComputePipelineState:pipeline];
    [encoder setBuffer:x offset:0 atIndex:0];
    [encoder dispatchThreadgroups:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
  }
  template <class T>
  static T* contents(id<MTLBuffer> buffer) {
    return static_cast<T*>([buffer contents]);
  }
  // Returns the pipeline's result for a 7 in buffer 0.
  int result_of(id<MTLComputePipelineState> pipeline) {
    id<MTLBuffer> x = buffer(4);
    contents<int>(x)[0] = 7;
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    dispatch(encoder, pipeline, x);
    [encoder endEncoding];
    run(commands);
    return contents<int>(x)[0];
  }

  void expect_said(const char* text) {
    const std::lock_guard lock(mutex);
    EXPECT_THAT(said, testing::HasSubstr(text));
    said.clear();
  }
  void expect_nothing_said() {
    const std::lock_guard lock(mutex);
    EXPECT_EQ(said, "");
    said.clear();
  }

  NSAutoreleasePool* pool = nil;
  NSArray<id<MTLDevice>>* devices = nil;
  id<MTLDevice> device = nil, discrete = nil;
  id<MTLCommandQueue> queue = nil;
  MisuseHook before;
  std::mutex mutex;
  std::string said;
};

}  // namespace softmetal
