#include "tests/softmetal/api/classes/device.h"

#include <algorithm>
#include <cstring>

#include "tests/softmetal/api/classes/checks/faults.h"
#include "tests/softmetal/api/classes/commands/commands.h"
#include "tests/softmetal/api/classes/commands/counters.h"
#include "tests/softmetal/api/classes/commands/events.h"
#include "tests/softmetal/api/classes/commands/indirect_commands.h"
#include "tests/softmetal/api/classes/programs/binary_archive.h"
#include "tests/softmetal/api/classes/programs/programs.h"
#include "tests/softmetal/api/classes/resources/residency_set.h"
#include "tests/softmetal/api/classes/resources/resources.h"
#include "tests/softmetal/compile/files.h"

using softmetal::must_fail;
using softmetal::report_misuse;

namespace {

NSArray* all_devices() {
  static NSArray* const devices = [] {
    NSMutableArray* const made = [NSMutableArray new];
    for (const softmetal::DeviceModel& model : softmetal::kDeviceModels) {
      SMDevice* const device = [SMDevice new];
      device->model_ = &model;
      [made addObject:device];
    }
    return made;
  }();
  return devices;
}

}  // namespace

id<MTLDevice> MTLCreateSystemDefaultDevice() { return [[all_devices() objectAtIndex:0] retain]; }

NSArray<id<MTLDevice>>* MTLCopyAllDevices() { return [all_devices() retain]; }

@implementation MTLArchitecture
- (NSString*)name {
  return @"software";
}
- (id)copyWithZone:(NSZone*)zone {
  (void)zone;
  return [self retain];
}
@end

@implementation SMDevice
- (NSString*)name {
  return [NSString stringWithUTF8String:model_->name];
}
- (uint64_t)registryID {
  return model_->registry_id;
}
- (MTLArchitecture*)architecture {
  return [[MTLArchitecture new] autorelease];
}
- (BOOL)hasUnifiedMemory {
  return model_->is_unified;
}
- (BOOL)isLowPower {
  return NO;
}
- (BOOL)isHeadless {
  return YES;
}
- (BOOL)isRemovable {
  return NO;
}
- (MTLDeviceLocation)location {
  return model_->is_unified ? MTLDeviceLocationBuiltIn : MTLDeviceLocationSlot;
}
- (MTLReadWriteTextureTier)readWriteTextureSupport {
  return MTLReadWriteTextureTier2;
}
- (MTLArgumentBuffersTier)argumentBuffersSupport {
  return MTLArgumentBuffersTier2;
}
- (NSUInteger)maxArgumentBufferSamplerCount {
  return 1024;
}
- (BOOL)supports32BitFloatFiltering {
  return YES;
}
- (MTLSize)maxThreadsPerThreadgroup {
  return MTLSizeMake(softmetal::kMaxThreads, softmetal::kMaxThreads, softmetal::kMaxThreads);
}
- (NSUInteger)maxThreadgroupMemoryLength {
  return softmetal::kThreadgroupMemory;
}
- (NSUInteger)maxBufferLength {
  return softmetal::kMaxBufferLength;
}
- (uint64_t)recommendedMaxWorkingSetSize {
  return softmetal::kMaxBufferLength;
}
- (BOOL)supportsFamily:(MTLGPUFamily)family {
  return (model_->is_apple && family >= MTLGPUFamilyApple1 && family <= MTLGPUFamilyApple9) ||
         (family >= MTLGPUFamilyCommon1 && family <= MTLGPUFamilyCommon3) ||
         family == MTLGPUFamilyMac2 || family == MTLGPUFamilyMetal3;
}
- (BOOL)supportsTextureSampleCount:(NSUInteger)count {
  return count == 1;
}
- (NSArray<id<MTLCounterSet>>*)counterSets {
  return [NSArray arrayWithObject:softmetal::timestamp_set()];
}
// Apple's GPUs sample at the begin and end of encoders, other GPUs between commands.
- (BOOL)supportsCounterSampling:(MTLCounterSamplingPoint)point {
  if (model_->is_apple) return point == MTLCounterSamplingPointAtStageBoundary;
  return point == MTLCounterSamplingPointAtDispatchBoundary ||
         point == MTLCounterSamplingPointAtBlitBoundary;
}
- (id<MTLCounterSampleBuffer>)newCounterSampleBufferWithDescriptor:
                                  (MTLCounterSampleBufferDescriptor*)descriptor
                                                             error:(NSError**)error {
  return softmetal::new_sample_buffer(self, descriptor, error);
}
- (void)sampleTimestamps:(MTLTimestamp*)cpu gpuTimestamp:(MTLTimestamp*)gpu {
  *cpu = softmetal::host_time();
  *gpu = softmetal::device_time(*model_, *cpu);
}
- (NSUInteger)minimumLinearTextureAlignmentForPixelFormat:(MTLPixelFormat)format {
  if (softmetal::format_info(static_cast<softmetal::PixelFormat>(format)) == nullptr)
    report_misuse("minimumLinearTextureAlignmentForPixelFormat: the pixel format is not valid");
  return model_->linear_alignment;
}
- (NSUInteger)minimumTextureBufferAlignmentForPixelFormat:(MTLPixelFormat)format {
  return [self minimumLinearTextureAlignmentForPixelFormat:format];
}

- (id<MTLCommandQueue>)newCommandQueue {
  if (must_fail("newCommandQueue")) return nil;
  return [[SMQueue alloc] initWithDevice:self];
}
- (id<MTLCommandQueue>)newCommandQueueWithMaxCommandBufferCount:(NSUInteger)count {
  if (count == 0) {
    report_misuse("newCommandQueueWithMaxCommandBufferCount: the count must not be 0");
    return nil;
  }
  return [self newCommandQueue];
}

- (BOOL)mayAllocate:(NSUInteger)length options:(MTLResourceOptions)options by:(const char*)call {
  std::string problem;
  if (length == 0 || length > softmetal::kMaxBufferLength) {
    problem = "a buffer has from 1 to maxBufferLength bytes, not " + std::to_string(length);
  } else if (softmetal::storage_mode(options) == MTLStorageModeMemoryless) {
    problem = "MTLStorageModeMemoryless is for textures alone";
  }
  if (!problem.empty()) report_misuse(std::string(call) + ": " + problem);
  return problem.empty();
}
- (SMBuffer*)bufferOf:(NSUInteger)length
             borrowed:(void*)memory
              options:(MTLResourceOptions)options {
  auto storage = softmetal::allocate(self, length, softmetal::storage_mode(options), memory);
  if (!storage->is_there()) return nil;
  return [SMBuffer newWithDevice:self
                            part:{std::move(storage), 0, length}
                         options:options
                            heap:nil];
}
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
  if (![self mayAllocate:length options:options by:"newBufferWithLength"] ||
      must_fail("newBufferWithLength:options:"))
    return nil;
  return [self bufferOf:length borrowed:nullptr options:options];
}
- (id<MTLBuffer>)newBufferWithBytes:(const void*)pointer
                             length:(NSUInteger)length
                            options:(MTLResourceOptions)options {
  if (![self mayAllocate:length options:options by:"newBufferWithBytes"] ||
      must_fail("newBufferWithBytes:length:options:"))
    return nil;
  SMBuffer* const buffer = [self bufferOf:length borrowed:nullptr options:options];
  if (buffer != nil) {
    std::memcpy(buffer->part_->host(), pointer, length);
    buffer->part_->storage->to_device(0, length);
  }
  return buffer;
}
- (id<MTLBuffer>)newBufferWithBytesNoCopy:(void*)pointer
                                   length:(NSUInteger)length
                                  options:(MTLResourceOptions)options
                              deallocator:(void (^)(void*, NSUInteger))deallocator {
  if (![self mayAllocate:length options:options by:"newBufferWithBytesNoCopy"]) return nil;
  const char* problem = nullptr;
  if (reinterpret_cast<uintptr_t>(pointer) % 4096 != 0 || length % 4096 != 0 || !pointer) {
    problem = "pointer and length must be multiples of the page size";
  } else if (softmetal::storage_mode(options) == MTLStorageModePrivate) {
    problem = "the host's memory cannot have MTLStorageModePrivate";
  } else if (deallocator != nil) {
    problem = "the software Metal takes no deallocator";
  }
  if (problem != nullptr) {
    report_misuse(std::string("newBufferWithBytesNoCopy: ") + problem);
    return nil;
  }
  if (must_fail("newBufferWithBytesNoCopy:length:options:deallocator:")) return nil;
  return [self bufferOf:length borrowed:pointer options:options];
}
- (id<MTLTexture>)newTextureWithDescriptor:(MTLTextureDescriptor*)descriptor {
  std::string problem = softmetal::problem_of(descriptor);
  if (problem.empty() && !model_->is_unified && descriptor.storageMode == MTLStorageModeShared)
    problem = "a texture of a discrete device cannot have MTLStorageModeShared";
  if (!problem.empty()) {
    report_misuse("newTextureWithDescriptor: " + problem);
    return nil;
  }
  if (must_fail("newTextureWithDescriptor:")) return nil;
  softmetal::Texture texture = softmetal::texture_of(descriptor);
  const auto levels = static_cast<uint32_t>(descriptor.mipmapLevelCount);
  const size_t size = texture.lay_out(nullptr, levels);
  auto storage = softmetal::allocate(self, size, descriptor.storageMode);
  if (!storage->is_there()) return nil;
  storage->fill_with_garbage();
  texture.lay_out(storage->device(), levels);
  return [SMTexture newWithDevice:self
                       descriptor:descriptor
                          texture:std::move(texture)
                             part:{std::move(storage), 0, size}
                             heap:nil
                             base:nil];
}
- (MTLSizeAndAlign)heapTextureSizeAndAlignWithDescriptor:(MTLTextureDescriptor*)descriptor {
  const std::string problem = softmetal::problem_of(descriptor);
  if (!problem.empty()) {
    report_misuse("heapTextureSizeAndAlignWithDescriptor: " + problem);
    return {0, 1};
  }
  const size_t size = softmetal::texture_of(descriptor)
                          .lay_out(nullptr, static_cast<uint32_t>(descriptor.mipmapLevelCount));
  return {(size + 255) / 256 * 256, 256};
}
- (MTLSizeAndAlign)heapBufferSizeAndAlignWithLength:(NSUInteger)length
                                            options:(MTLResourceOptions)options {
  (void)options;
  return {(length + 255) / 256 * 256, 256};
}
- (id<MTLHeap>)newHeapWithDescriptor:(MTLHeapDescriptor*)descriptor {
  const char* problem = nullptr;
  if (descriptor.size == 0) {
    problem = "the size must not be 0";
  } else if (descriptor.type == MTLHeapTypeSparse) {
    problem = "the software Metal has no sparse heaps";
  } else if (!model_->is_unified && descriptor.storageMode == MTLStorageModeShared) {
    problem = "a heap of a discrete device must have MTLStorageModePrivate";
  } else if (descriptor.storageMode == MTLStorageModeManaged) {
    problem = "a heap cannot have MTLStorageModeManaged";
  }
  if (problem != nullptr) {
    report_misuse(std::string("newHeapWithDescriptor: ") + problem);
    return nil;
  }
  if (must_fail("newHeapWithDescriptor:")) return nil;
  return [[SMHeap alloc] initWithDevice:self descriptor:descriptor];
}
- (NSUInteger)currentAllocatedSize {
  return 0;  // not counted
}
- (id<MTLSamplerState>)newSamplerStateWithDescriptor:(MTLSamplerDescriptor*)descriptor {
  return softmetal::new_sampler(self, descriptor);
}

// One device answers like newer systems, the other one like older systems.
- (BOOL)respondsToSelector:(SEL)selector {
  if (!model_->has_residency_sets &&
      sel_isEqual(selector, @selector(newResidencySetWithDescriptor:error:)))
    return NO;
  return [super respondsToSelector:selector];
}
- (id<MTLResidencySet>)newResidencySetWithDescriptor:(MTLResidencySetDescriptor*)descriptor
                                               error:(NSError**)error {
  if (!model_->has_residency_sets) {
    report_misuse("newResidencySetWithDescriptor: the system has no residency sets; ask "
                  "respondsToSelector");
    return nil;
  }
  return softmetal::new_residency_set(self, descriptor, error);
}
- (id<MTLIndirectCommandBuffer>)newIndirectCommandBufferWithDescriptor:
                                    (MTLIndirectCommandBufferDescriptor*)descriptor
                                                       maxCommandCount:(NSUInteger)count
                                                               options:(MTLResourceOptions)options {
  return softmetal::new_indirect_command_buffer(self, descriptor, count, options);
}
- (id<MTLFence>)newFence {
  if (must_fail("newFence")) return nil;
  return [[SMFence alloc] initWithDevice:self];
}
- (id<MTLEvent>)newEvent {
  if (must_fail("newEvent")) return nil;
  return [[SMEvent alloc] initWithDevice:self kind:"event"];
}
- (id<MTLSharedEvent>)newSharedEvent {
  if (must_fail("newSharedEvent")) return nil;
  return [[SMSharedEvent alloc] initWithDevice:self kind:"shared event"];
}
- (id<MTLSharedEvent>)newSharedEventWithHandle:(MTLSharedEventHandle*)handle {
  return softmetal::new_event_of(handle, self);
}

- (id<MTLLibrary>)newLibraryWithSource:(NSString*)source
                               options:(MTLCompileOptions*)options
                                 error:(NSError**)error {
  return softmetal::new_library(self, source, options, error);
}
- (void)newLibraryWithSource:(NSString*)source
                     options:(MTLCompileOptions*)options
           completionHandler:(MTLNewLibraryCompletionHandler)handler {
  NSError* error = nil;
  id<MTLLibrary> library = softmetal::new_library(self, source, options, &error);
  handler([library autorelease], error);
}
- (id<MTLLibrary>)newLibraryWithURL:(NSURL*)url error:(NSError**)error {
  if (url == nil || ![url isFileURL]) {
    report_misuse("newLibraryWithURL: the URL must be that of a file");
    return nil;
  }
  const std::string path = softmetal::text_of([url path]);
  const auto bytes = softmetal::read_file(path);
  if (bytes) return softmetal::new_library(self, *bytes, "newLibraryWithURL:error:", error);
  softmetal::set_error(error, MTLLibraryErrorDomain, MTLLibraryErrorFileNotFound,
                       "cannot read " + path);
  return nil;
}
- (id<MTLLibrary>)newLibraryWithData:(dispatch_data_t)data error:(NSError**)error {
  if (data == nullptr) {
    report_misuse("newLibraryWithData: the data must not be nil");
    return nil;
  }
  const void* bytes = nullptr;
  size_t size = 0;
  const dispatch_data_t map = dispatch_data_create_map(data, &bytes, &size);
  id<MTLLibrary> library = softmetal::new_library(self, {static_cast<const char*>(bytes), size},
                                                  "newLibraryWithData:error:", error);
  dispatch_release(map);
  return library;
}
- (id<MTLBinaryArchive>)newBinaryArchiveWithDescriptor:(MTLBinaryArchiveDescriptor*)descriptor
                                                 error:(NSError**)error {
  return softmetal::new_binary_archive(self, descriptor, error);
}
- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                                             error:(NSError**)error {
  return [self newComputePipelineStateWithFunction:function
                                           options:MTLPipelineOptionNone
                                        reflection:nullptr
                                             error:error];
}
- (id<MTLComputePipelineState>)
    newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                options:(MTLPipelineOption)options
                             reflection:(MTLAutoreleasedComputePipelineReflection*)reflection
                                  error:(NSError**)error {
  MTLComputePipelineDescriptor* const d = [[MTLComputePipelineDescriptor new] autorelease];
  d.computeFunction = function;
  return softmetal::new_pipeline(self, d, options, reflection, error);
}
- (id<MTLComputePipelineState>)
    newComputePipelineStateWithDescriptor:(MTLComputePipelineDescriptor*)descriptor
                                  options:(MTLPipelineOption)options
                               reflection:(MTLAutoreleasedComputePipelineReflection*)reflection
                                    error:(NSError**)error {
  return softmetal::new_pipeline(self, descriptor, options, reflection, error);
}
@end
