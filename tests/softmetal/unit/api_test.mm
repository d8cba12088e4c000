// Tests the results of programs that run through the Metal API.
#include "tests/softmetal/unit/api_fixture.h"

namespace softmetal {
namespace {

TEST_F(ApiTest, RunsAKernelFromSource) {
  id<MTLComputePipelineState> add =
      pipeline("kernel void add(device float* x [[buffer(0)]], constant float& y [[buffer(1)]], "
               "uint i [[thread_position_in_grid]]) { x[i] += y; }");
  id<MTLBuffer> x = buffer(32);
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  const float y = 2;
  [encoder setComputePipelineState:add];
  [encoder setBuffer:x offset:0 atIndex:0];
  [encoder setBytes:&y length:4 atIndex:1];
  [encoder dispatchThreadgroups:MTLSizeMake(2, 1, 1) threadsPerThreadgroup:MTLSizeMake(4, 1, 1)];
  [encoder endEncoding];
  run(commands);
  EXPECT_EQ([commands status], MTLCommandBufferStatusCompleted);
  EXPECT_EQ(contents<float>(x)[7], 2);
}

TEST_F(ApiTest, RunsGridsThatAreNoMultipleOfThreadgroups) {
  id<MTLBuffer> x = buffer(32);
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState:increment()];
  [encoder setBuffer:x offset:0 atIndex:0];
  [encoder dispatchThreads:MTLSizeMake(7, 1, 1) threadsPerThreadgroup:MTLSizeMake(4, 1, 1)];
  [encoder endEncoding];
  run(commands);
  EXPECT_EQ(contents<int>(x)[6], 1);
  EXPECT_EQ(contents<int>(x)[7], 0);
}

TEST_F(ApiTest, TellsWhyAProgramDoesNotCompile) {
  NSError* error = nil;
  EXPECT_EQ([device newLibraryWithSource:@"kernel void f() { x; }" options:nil error:&error], nil);
  EXPECT_THAT([[error localizedDescription] UTF8String], testing::HasSubstr("program_source:1"));
}

TEST_F(ApiTest, ErrorsOfKernelsAreThoseOfTheCommandBuffer) {
  id<MTLBuffer> x = buffer(4);
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  dispatch(encoder,
           pipeline("kernel void divide(device int* x [[buffer(0)]]) { x[0] = 77 / x[0]; }"), x);
  [encoder endEncoding];
  run(commands);
  EXPECT_EQ([commands status], MTLCommandBufferStatusError);
  EXPECT_THAT([[[commands error] localizedDescription] UTF8String],
              testing::HasSubstr("divides an integer by zero"));
}

TEST_F(ApiTest, DescribesArguments) {
  NSError* error = nil;
  id<MTLLibrary> library = [[device
      newLibraryWithSource:@"#include <metal_stdlib>\nusing namespace metal;\n"
                            "struct S { int a; float b[3]; };\n"
                            "[[max_total_threads_per_threadgroup(64)]]\n"
                            "kernel void f(device const float4* x [[buffer(0)]], "
                            "device int* y [[buffer(2)]], constant S& s [[buffer(3)]], "
                            "texture2d<half, access::write> t [[texture(1)]], "
                            "threadgroup int* m [[threadgroup(0)]], "
                            "uint i [[thread_position_in_grid]]) {\n"
                            "  threadgroup float4 a[3];\n  threadgroup char b[5];\n"
                            "  a[i] = x[i]; b[i] = char(s.a); m[i] = b[i];\n"
                            "  y[i] = m[i] + int(a[i].x); t.write(half4(0.0h), uint2(i, 0)); }"
                   options:nil
                     error:&error] autorelease];
  ASSERT_NE(library, nil) << [[error localizedDescription] UTF8String];
  MTLComputePipelineDescriptor* const d = [[MTLComputePipelineDescriptor new] autorelease];
  d.computeFunction = [[library newFunctionWithName:@"f"] autorelease];
  MTLComputePipelineReflection* reflection = nil;
  id<MTLComputePipelineState> f =
      [[device newComputePipelineStateWithDescriptor:d
                                             options:MTLPipelineOptionArgumentInfo
                                          reflection:&reflection
                                               error:&error] autorelease];
  std::string text;
  for (id<MTLBinding> each in [reflection bindings]) {
    text += std::string([each.name UTF8String]) + " " + std::to_string(each.type) + " " +
            std::to_string(each.index) + " " + std::to_string(each.access) + "\n";
  }
  EXPECT_EQ(text, "x 0 0 0\ny 0 2 1\ns 0 3 0\nt 2 1 2\nm 1 0 1\n");
  id<MTLBufferBinding> s = (id<MTLBufferBinding>)[[reflection bindings] objectAtIndex:2];
  EXPECT_EQ(s.bufferDataSize, 16U);
  EXPECT_EQ(s.bufferDataType, MTLDataTypeStruct);
  id<MTLTextureBinding> t = (id<MTLTextureBinding>)[[reflection bindings] objectAtIndex:3];
  EXPECT_EQ(t.textureDataType, MTLDataTypeHalf);
  EXPECT_EQ(f.maxTotalThreadsPerThreadgroup, 64U);
  EXPECT_EQ(f.staticThreadgroupMemoryLength, 53U);
  EXPECT_EQ(f.threadExecutionWidth, 32U);
}

TEST_F(ApiTest, FunctionConstantsHaveValues) {
  NSError* error = nil;
  id<MTLLibrary> library =
      [[device newLibraryWithSource:@"#include <metal_stdlib>\nusing namespace metal;\n"
                                     "constant int a [[function_constant(0)]];\n"
                                     "constant float b [[function_constant(1)]];\n"
                                     "kernel void f(device float* x [[buffer(0)]]) "
                                     "{ x[0] = float(a) + b; }"
                            options:nil
                              error:&error] autorelease];
  id<MTLFunction> unspecialized = [[library newFunctionWithName:@"f"] autorelease];
  MTLFunctionConstant* const first =
      [[unspecialized functionConstantsDictionary] objectForKey:@"a"];
  EXPECT_TRUE(first.required);
  EXPECT_EQ([device newComputePipelineStateWithFunction:unspecialized error:&error], nil);
  EXPECT_THAT([[error localizedDescription] UTF8String],
              testing::HasSubstr("needs values of the function constants: a b"));
  MTLFunctionConstantValues* const values = [[MTLFunctionConstantValues new] autorelease];
  const int a = -3;
  const float b = 0.25F;
  [values setConstantValue:&a type:MTLDataTypeInt atIndex:0];
  EXPECT_EQ([library newFunctionWithName:@"f" constantValues:values error:&error], nil);
  EXPECT_THAT([[error localizedDescription] UTF8String],
              testing::HasSubstr("needs values of the function constants: b"));
  [values setConstantValue:&b type:MTLDataTypeFloat withName:@"b"];
  id<MTLFunction> f = [[library newFunctionWithName:@"f" constantValues:values
                                              error:&error] autorelease];
  ASSERT_NE(f, nil) << [[error localizedDescription] UTF8String];
  EXPECT_EQ([[f functionConstantsDictionary] count], 2U);
  id<MTLBuffer> x = buffer(4);
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  dispatch(encoder, [[device newComputePipelineStateWithFunction:f error:&error] autorelease], x);
  [encoder endEncoding];
  run(commands);
  EXPECT_EQ(contents<float>(x)[0], -2.75F);
}

TEST_F(ApiTest, TexturesAreCopied) {
  id<MTLTexture> a = texture(descriptor(4, 3)), b = texture(descriptor(4, 3));
  id<MTLBuffer> from = buffer(64), to = buffer(64);
  for (int i = 0; i < 16; ++i) contents<float>(from)[i] = static_cast<float>(i);
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
  [encoder copyFromBuffer:from
             sourceOffset:4
        sourceBytesPerRow:20
      sourceBytesPerImage:0
               sourceSize:MTLSizeMake(4, 3, 1)
                toTexture:a
         destinationSlice:0
         destinationLevel:0
        destinationOrigin:MTLOriginMake(0, 0, 0)];
  [encoder copyFromTexture:a
               sourceSlice:0
               sourceLevel:0
              sourceOrigin:MTLOriginMake(1, 1, 0)
                sourceSize:MTLSizeMake(2, 2, 1)
                 toTexture:b
          destinationSlice:0
          destinationLevel:0
         destinationOrigin:MTLOriginMake(0, 1, 0)];
  [encoder copyFromTexture:b
                   sourceSlice:0
                   sourceLevel:0
                  sourceOrigin:MTLOriginMake(0, 1, 0)
                    sourceSize:MTLSizeMake(2, 2, 1)
                      toBuffer:to
             destinationOffset:0
        destinationBytesPerRow:12
      destinationBytesPerImage:0];
  [encoder endEncoding];
  run(commands);
  EXPECT_EQ(contents<float>(to)[0], 7);
  EXPECT_EQ(contents<float>(to)[1], 8);
  EXPECT_EQ(contents<float>(to)[3], 12);
  float texel = 0;
  [b getBytes:&texel bytesPerRow:4 fromRegion:MTLRegionMake2D(1, 2, 1, 1) mipmapLevel:0];
  EXPECT_EQ(texel, 13);
  texel = 5;
  [b replaceRegion:MTLRegionMake2D(3, 0, 1, 1) mipmapLevel:0 withBytes:&texel bytesPerRow:4];
  texel = 0;
  [b getBytes:&texel bytesPerRow:4 fromRegion:MTLRegionMake2D(3, 0, 1, 1) mipmapLevel:0];
  EXPECT_EQ(texel, 5);
}

TEST_F(ApiTest, ViewsShareMemory) {
  id<MTLBuffer> x = buffer(64);
  id<MTLTexture> view = [[x newTextureWithDescriptor:descriptor(3, 2) offset:16
                                         bytesPerRow:16] autorelease];
  EXPECT_EQ([view buffer], x);
  EXPECT_EQ([view bufferOffset], 16U);
  contents<float>(x)[9] = 4;
  float texel = 0;
  [view getBytes:&texel bytesPerRow:4 fromRegion:MTLRegionMake2D(1, 1, 1, 1) mipmapLevel:0];
  EXPECT_EQ(texel, 4);
  MTLTextureDescriptor* const d = descriptor(3, 2);
  d.usage |= MTLTextureUsagePixelFormatView;
  id<MTLTexture> numbers = texture(d);
  id<MTLTexture> words =
      [[numbers newTextureViewWithPixelFormat:MTLPixelFormatR32Uint] autorelease];
  texel = 1;
  [numbers replaceRegion:MTLRegionMake2D(2, 1, 1, 1) mipmapLevel:0 withBytes:&texel bytesPerRow:4];
  uint32_t word = 0;
  [words getBytes:&word bytesPerRow:4 fromRegion:MTLRegionMake2D(2, 1, 1, 1) mipmapLevel:0];
  EXPECT_EQ(word, 0x3f800000U);
  EXPECT_EQ([words parentTexture], numbers);
}

TEST_F(ApiTest, HeapsGiveAndTakeMemory) {
  MTLHeapDescriptor* const d = [[MTLHeapDescriptor new] autorelease];
  d.size = 1024;
  d.storageMode = MTLStorageModeShared;
  id<MTLHeap> heap = [[device newHeapWithDescriptor:d] autorelease];
  id<MTLBuffer> a = [heap newBufferWithLength:300 options:0];
  id<MTLBuffer> b = [[heap newBufferWithLength:512 options:0] autorelease];
  EXPECT_EQ([b heapOffset], 512U);
  EXPECT_EQ([heap usedSize], 1024U);
  EXPECT_EQ([heap newBufferWithLength:1 options:0], nil);
  [a release];
  EXPECT_EQ([heap maxAvailableSizeWithAlignment:256], 512U);
  id<MTLBuffer> c = [[heap newBufferWithLength:512 options:0] autorelease];
  EXPECT_EQ([c heap], heap);
  EXPECT_EQ([c heapOffset], 0U);
  [c makeAliasable];
  EXPECT_EQ([heap usedSize], 512U);
}

TEST_F(ApiTest, ArgumentBuffersReferToWhatIsUsed) {
  id<MTLComputePipelineState> copy =
      pipeline("struct Args { device int* from [[id(0)]]; device int* to [[id(1)]]; };\n"
               "kernel void copy(constant Args& a [[buffer(0)]]) { a.to[0] = a.from[0]; }");
  id<MTLBuffer> from = buffer(4), to = buffer(4), arguments = buffer(16);
  contents<int>(from)[0] = 9;
  contents<uint64_t>(arguments)[0] = [from gpuAddress];
  contents<uint64_t>(arguments)[1] = [to gpuAddress];
  const auto run_with = [&](bool uses_source, MTLResourceUsage usage) {
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    if (uses_source) [encoder useResource:from usage:MTLResourceUsageRead];
    [encoder useResource:to usage:usage];
    dispatch(encoder, copy, arguments);
    [encoder endEncoding];
    run(commands);
    return [commands status];
  };
  EXPECT_EQ(run_with(true, MTLResourceUsageWrite), MTLCommandBufferStatusCompleted);
  EXPECT_EQ(contents<int>(to)[0], 9);
  EXPECT_EQ(run_with(true, MTLResourceUsageRead), MTLCommandBufferStatusError);
  EXPECT_EQ(run_with(false, MTLResourceUsageWrite), MTLCommandBufferStatusError);
  expect_said("is not resident");
}

TEST_F(ApiTest, ReflectionDescribesArgumentBuffers) {
  id<MTLLibrary> library =
      [[device newLibraryWithSource:@"#include <metal_stdlib>\nusing namespace metal;\n"
                                     "struct Args { const device int* __restrict from [[id(0)]];\n"
                                     "  texture2d<uint, access::write> image [[id(1)]];\n"
                                     "  array<device float*, 3> many [[id(2)]]; };\n"
                                     "kernel void f(constant Args& a [[buffer(0)]],\n"
                                     "  device float* x [[buffer(1)]]) {}"
                            options:nil
                              error:nullptr] autorelease];
  id<MTLFunction> function = [[library newFunctionWithName:@"f"] autorelease];
  MTLComputePipelineReflection* reflection = nil;
  [[device newComputePipelineStateWithFunction:function
                                       options:MTLPipelineOptionBufferTypeInfo
                                    reflection:&reflection
                                         error:nullptr] autorelease];
  NSArray<id<MTLBinding>>* const bindings = [reflection bindings];
  EXPECT_EQ([(id<MTLBufferBinding>)[bindings objectAtIndex:1] bufferStructType], nil);
  MTLStructType* const type = [(id<MTLBufferBinding>)[bindings objectAtIndex:0] bufferStructType];
  ASSERT_EQ([[type members] count], 3U);
  MTLStructMember* const from = [type memberByName:@"from"];
  EXPECT_EQ([from dataType], MTLDataTypePointer);
  EXPECT_EQ([[from pointerType] access], MTLBindingAccessReadOnly);
  MTLStructMember* const image = [[type members] objectAtIndex:1];
  EXPECT_EQ([image argumentIndex], 1U);
  EXPECT_EQ([image offset], 8U);
  EXPECT_EQ([[image textureReferenceType] textureDataType], MTLDataTypeUInt);
  EXPECT_EQ([[image textureReferenceType] access], MTLBindingAccessWriteOnly);
  MTLStructMember* const many = [type memberByName:@"many"];
  EXPECT_EQ([many dataType], MTLDataTypeArray);
  EXPECT_EQ([[many arrayType] arrayLength], 3U);
  EXPECT_EQ([[[many arrayType] elementPointerType] access], MTLBindingAccessReadWrite);
}

TEST_F(ApiTest, EventsOrderQueuesAndTheHost) {
  id<MTLSharedEvent> event = [[device newSharedEvent] autorelease];
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
  EXPECT_EQ(contents<uint8_t>(x)[3], 0);
  EXPECT_EQ(contents<uint8_t>(x)[4], 7);
}

TEST_F(ApiTest, ListenersAreTold) {
  id<MTLSharedEvent> event = [[device newSharedEvent] autorelease];
  id<MTLSharedEvent> told = [[device newSharedEvent] autorelease];
  MTLSharedEventListener* const listener = [[MTLSharedEventListener new] autorelease];
  [event notifyListener:listener
                atValue:2
                  block:^(id<MTLSharedEvent> from, uint64_t value) {
                    [told setSignaledValue:from == event ? value : 100];
                  }];
  [event setSignaledValue:1];
  EXPECT_FALSE([told waitUntilSignaledValue:1 timeoutMS:20]);
  [event setSignaledValue:3];
  EXPECT_TRUE([told waitUntilSignaledValue:3 timeoutMS:10000]);
  EXPECT_EQ([told signaledValue], 3U);
  MTLSharedEventHandle* const handle = [[event newSharedEventHandle] autorelease];
  EXPECT_EQ([[[discrete newSharedEventWithHandle:handle] autorelease] signaledValue], 3U);
}

TEST_F(ApiTest, EnqueuedCommandBuffersKeepTheirOrder) {
  id<MTLBuffer> x = buffer(4);
  id<MTLCommandBuffer> first = [queue commandBuffer], second = [queue commandBuffer];
  [first enqueue];
  for (id<MTLCommandBuffer> commands in @[ second, first ]) {
    id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
    [encoder fillBuffer:x range:NSMakeRange(0, 4) value:commands == first ? 1 : 2];
    [encoder endEncoding];
    [commands commit];
  }
  [second waitUntilCompleted];
  EXPECT_EQ(contents<uint8_t>(x)[0], 2);
}

TEST_F(ApiTest, HandlersAreCalledInOrder) {
  __block std::string order;
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  [commands addScheduledHandler:^(id<MTLCommandBuffer>) {
    order += "scheduled ";
  }];
  [commands addCompletedHandler:^(id<MTLCommandBuffer> done) {
    order += [done status] == MTLCommandBufferStatusCompleted ? "completed" : "?";
  }];
  run(commands);
  EXPECT_EQ(order, "scheduled completed");
}

}  // namespace
}  // namespace softmetal
