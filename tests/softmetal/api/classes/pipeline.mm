#include <algorithm>

#include "tests/softmetal/api/classes/device.h"
#include "tests/softmetal/api/classes/faults.h"
#include "tests/softmetal/api/classes/programs.h"

namespace softmetal {

id<MTLComputePipelineState> new_pipeline(id<MTLDevice> device,
                                         MTLComputePipelineDescriptor* descriptor,
                                         MTLPipelineOption options,
                                         MTLAutoreleasedComputePipelineReflection* reflection,
                                         NSError** error) {
  SMFunction* const function = (SMFunction*)descriptor.computeFunction;
  if (function == nil || [function device] != device) {
    report_misuse(std::string("newComputePipelineState: the function ") +
                  (function == nil ? "must not be nil" : "belongs to another device"));
    return nil;
  }
  if (descriptor.maxTotalThreadsPerThreadgroup > kMaxThreads) {
    report_misuse("newComputePipelineState: maxTotalThreadsPerThreadgroup is over the limit of " +
                  std::to_string(kMaxThreads));
    return nil;
  }
  if (must_fail("newComputePipelineState")) {
    set_error(error, MTLLibraryErrorDomain, MTLLibraryErrorInternal, kFaultText);
    return nil;
  }
  const Function& f = **function->function_;
  if (f.threadgroup_memory > kThreadgroupMemory) {
    set_error(error, MTLLibraryErrorDomain, MTLLibraryErrorInternal,
              "kernel \"" + f.name + "\" has " + std::to_string(f.threadgroup_memory) +
                  " bytes of threadgroup memory, and the device " +
                  std::to_string(kThreadgroupMemory));
    return nil;
  }
  SMPipeline* const pipeline = [[SMPipeline alloc] initWithDevice:device kind:"pipeline state"];
  pipeline->function_ = new std::shared_ptr<Function>(*function->function_);
  pipeline->most_threads_ = f.max_threads != 0 ? f.max_threads : kMaxThreads;
  if (descriptor.maxTotalThreadsPerThreadgroup != 0) {
    pipeline->most_threads_ =
        std::min(pipeline->most_threads_, descriptor.maxTotalThreadsPerThreadgroup);
  }
  pipeline->multiple_ = descriptor.threadGroupSizeIsMultipleOfThreadExecutionWidth;
  [pipeline setLabel:descriptor.label];
  if (reflection != nullptr && options != MTLPipelineOptionNone) {
    MTLComputePipelineReflection* const made = [[MTLComputePipelineReflection new] autorelease];
    made->bindings_ = [bindings_of(f) retain];
    *reflection = made;
  }
  return pipeline;
}

id<MTLSamplerState> new_sampler(id<MTLDevice> device, MTLSamplerDescriptor* d) {
  const char* problem = nullptr;
  const MTLSamplerAddressMode modes[] = {d.sAddressMode, d.tAddressMode, d.rAddressMode};
  for (const MTLSamplerAddressMode mode : modes) {
    if (mode == MTLSamplerAddressModeMirrorClampToEdge)
      problem = "the software Metal has no MTLSamplerAddressModeMirrorClampToEdge";
    if (!d.normalizedCoordinates &&
        (mode == MTLSamplerAddressModeRepeat || mode == MTLSamplerAddressModeMirrorRepeat))
      problem = "coordinates in texels must be clamped";
  }
  if (problem != nullptr) {
    report_misuse(std::string("newSamplerStateWithDescriptor: ") + problem);
    return nil;
  }
  // By MTLSamplerAddressMode.
  static constexpr SamplerState::Address kAddresses[] = {
      SamplerState::ClampToEdge,    SamplerState::ClampToEdge, SamplerState::Repeat,
      SamplerState::MirroredRepeat, SamplerState::ClampToZero, SamplerState::ClampToBorder};
  SMSampler* const sampler = [[SMSampler alloc] initWithDevice:device kind:"sampler"];
  uint64_t bits = d.normalizedCoordinates ? 0 : 1;
  for (int axis = 0; axis < 3; ++axis) bits |= uint64_t{kAddresses[modes[axis]]} << (1 + 3 * axis);
  bits |= uint64_t{d.magFilter} << 10 | uint64_t{d.minFilter} << 11 | uint64_t{d.mipFilter} << 12 |
          uint64_t{d.borderColor} << 14;
  sampler->bits_ = {bits};
  [sampler setLabel:d.label];
  return sampler;
}

}  // namespace softmetal

@implementation SMPipeline
- (void)dealloc {
  delete function_;
  [super dealloc];
}
- (NSUInteger)threadExecutionWidth {
  return ((SMDevice*)device_)->model_->simd_width;
}
- (NSUInteger)maxTotalThreadsPerThreadgroup {
  return most_threads_;
}
- (NSUInteger)staticThreadgroupMemoryLength {
  return (*function_)->threadgroup_memory;
}
- (BOOL)supportIndirectCommandBuffers {
  return NO;
}
- (MTLResourceID)gpuResourceID {
  return MTLResourceID{reinterpret_cast<uint64_t>(function_->get())};
}
@end

@implementation SMSampler
- (MTLResourceID)gpuResourceID {
  return MTLResourceID{bits_.bits};
}
@end
