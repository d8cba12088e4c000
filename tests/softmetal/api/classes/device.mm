#include "tests/softmetal/api/classes/objects.h"

using softmetal::report_misuse;
using softmetal::Storage;

namespace {
constexpr NSUInteger kMaxBufferLength = NSUInteger{1} << 34;

id<MTLDevice> the_device() {
  static SMDevice* const device = [SMDevice new];
  return device;
}
}  // namespace

id<MTLDevice> MTLCreateSystemDefaultDevice() { return [the_device() retain]; }

NSArray<id<MTLDevice>>* MTLCopyAllDevices() {
  return [[NSArray alloc] initWithObjects:the_device(), nil];
}

@implementation SMDevice
- (NSString*)name {
  return @"Software Metal";
}
- (uint64_t)registryID {
  return 1;
}
- (BOOL)hasUnifiedMemory {
  return YES;
}
- (MTLSize)maxThreadsPerThreadgroup {
  return MTLSizeMake(1024, 1024, 1024);
}
- (NSUInteger)maxThreadgroupMemoryLength {
  return 32768;
}
- (NSUInteger)maxBufferLength {
  return kMaxBufferLength;
}
- (uint64_t)recommendedMaxWorkingSetSize {
  return kMaxBufferLength;
}
- (BOOL)supportsFamily:(MTLGPUFamily)family {
  return (family >= MTLGPUFamilyApple1 && family <= MTLGPUFamilyApple9) ||
         (family >= MTLGPUFamilyCommon1 && family <= MTLGPUFamilyCommon3) ||
         family == MTLGPUFamilyMac2 || family == MTLGPUFamilyMetal3;
}
- (NSUInteger)minimumLinearTextureAlignmentForPixelFormat:(MTLPixelFormat)format {
  (void)format;
  return 16;
}
- (id<MTLCommandQueue>)newCommandQueue {
  return [[SMQueue alloc] initWithDevice:self];
}
- (id<MTLCommandQueue>)newCommandQueueWithMaxCommandBufferCount:(NSUInteger)count {
  if (count == 0) {
    report_misuse("newCommandQueueWithMaxCommandBufferCount: the count must not be 0");
    return nil;
  }
  return [self newCommandQueue];
}
- (id<MTLBuffer>)bufferOf:(NSUInteger)length
                 borrowed:(void*)memory
                  options:(MTLResourceOptions)options {
  if (length == 0 || length > kMaxBufferLength) {
    report_misuse("newBufferWithLength: a buffer has from 1 to maxBufferLength bytes, not " +
                  std::to_string(length));
    return nil;
  }
  auto storage = std::make_shared<Storage>(length, memory);
  if (storage->data == nullptr) return nil;
  SMBuffer* buffer = [[SMBuffer alloc] initWithDevice:self];
  [buffer take:std::move(storage) options:options];
  return buffer;
}
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
  return [self bufferOf:length borrowed:nullptr options:options];
}
- (id<MTLBuffer>)newBufferWithBytes:(const void*)pointer
                             length:(NSUInteger)length
                            options:(MTLResourceOptions)options {
  id<MTLBuffer> buffer = [self bufferOf:length borrowed:nullptr options:options];
  if (buffer != nil) memcpy([(SMBuffer*)buffer bytes], pointer, length);
  return buffer;
}
- (id<MTLBuffer>)newBufferWithBytesNoCopy:(void*)pointer
                                   length:(NSUInteger)length
                                  options:(MTLResourceOptions)options
                              deallocator:(void (^)(void*, NSUInteger))deallocator {
  if (reinterpret_cast<uintptr_t>(pointer) % 4096 != 0 || length % 4096 != 0 || !pointer) {
    report_misuse(
        "newBufferWithBytesNoCopy: pointer and length must be multiples of the page size");
    return nil;
  }
  if (deallocator != nil) {
    report_misuse("newBufferWithBytesNoCopy: the software Metal takes no deallocator");
    return nil;
  }
  return [self bufferOf:length borrowed:pointer options:options];
}
- (id<MTLTexture>)newTextureWithDescriptor:(MTLTextureDescriptor*)descriptor {
  return [[SMTexture alloc] initWithDevice:self
                                descriptor:descriptor
                                   storage:nullptr
                                    offset:0
                               bytesPerRow:0];
}
- (id<MTLFence>)newFence {
  return [[SMFence alloc] initWithDevice:self];
}
- (id<MTLEvent>)newEvent {
  return [self newSharedEvent];
}
- (id<MTLSharedEvent>)newSharedEvent {
  return [[SMSharedEvent alloc] initWithDevice:self];
}
- (id<MTLLibrary>)newLibraryWithSource:(NSString*)source
                               options:(MTLCompileOptions*)options
                                 error:(NSError**)error {
  MTLCompileOptions* const o = options != nil ? options : [[MTLCompileOptions new] autorelease];
  softmetal::CompileOptions to;
  to.version =
      static_cast<int>((o.languageVersion >> 16) * 100 + (o.languageVersion & 0xffff) * 10);
  to.math_mode = static_cast<softmetal::MathMode>(o.mathMode);
  for (NSString* key in [o.preprocessorMacros allKeys]) {
    to.macros[[key UTF8String]] =
        [[[o.preprocessorMacros objectForKey:key] description] UTF8String];
  }
  std::string log;
  auto library = softmetal::Library::compile(softmetal::text_of(source), to, log);
  if (library == nullptr) {
    if (error != nullptr) {
      *error = softmetal::make_error(MTLLibraryErrorDomain, MTLLibraryErrorCompileFailure, log);
    }
    return nil;
  }
  SMLibrary* result = [[SMLibrary alloc] initWithDevice:self];
  result->library_ = new std::shared_ptr<softmetal::Library>(std::move(library));
  return result;
}
- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                                             error:(NSError**)error {
  (void)error;
  if (function == nil) {
    report_misuse("newComputePipelineStateWithFunction: the function must not be nil");
    return nil;
  }
  SMPipeline* pipeline = [[SMPipeline alloc] initWithDevice:self];
  pipeline->function_ =
      new std::shared_ptr<softmetal::Function>(*((SMFunction*)function)->function_);
  return pipeline;
}
@end

@implementation SMLibrary
- (void)dealloc {
  delete library_;
  [super dealloc];
}
- (NSArray*)functionNames {
  NSMutableArray* names = [NSMutableArray array];
  for (const std::string& name : (*library_)->function_names()) {
    [names addObject:softmetal::string_of(name)];
  }
  return names;
}
- (id<MTLFunction>)newFunctionWithName:(NSString*)name {
  std::string problem;
  auto function = (*library_)->function(softmetal::text_of(name), problem);
  if (function == nullptr) return nil;
  SMFunction* result = [[SMFunction alloc] initWithDevice:device_];
  result->function_ = new std::shared_ptr<softmetal::Function>(std::move(function));
  return result;
}
@end

@implementation SMFunction
- (void)dealloc {
  delete function_;
  [super dealloc];
}
- (NSString*)name {
  return softmetal::string_of((*function_)->name);
}
- (MTLFunctionType)functionType {
  return MTLFunctionTypeKernel;
}
@end

@implementation SMPipeline
- (void)dealloc {
  delete function_;
  [super dealloc];
}
- (NSUInteger)threadExecutionWidth {
  return 32;
}
- (NSUInteger)maxTotalThreadsPerThreadgroup {
  return (*function_)->max_threads != 0 ? (*function_)->max_threads : 1024;
}
@end
