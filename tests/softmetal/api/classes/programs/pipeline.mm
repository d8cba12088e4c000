#include <algorithm>

#include "tests/softmetal/api/classes/checks/faults.h"
#include "tests/softmetal/api/classes/device.h"
#include "tests/softmetal/api/classes/programs/binary_archive.h"
#include "tests/softmetal/api/classes/programs/programs.h"

namespace softmetal {

std::string name_in_archives(MTLComputePipelineDescriptor* descriptor) {
  const std::string& function = *((SMFunction*)descriptor.computeFunction)->name_;
  return descriptor.supportIndirectCommandBuffers ? function + " for indirect commands" : function;
}

namespace {

// Returns the function with its code, from an archive if one has it. On failure, returns null and
// sets `problem`.
std::shared_ptr<Function> generate(MTLComputePipelineDescriptor* descriptor,
                                   MTLPipelineOption options, std::string& problem) {
  SMFunction* const function = (SMFunction*)descriptor.computeFunction;
  const Library& library = **function->library_;
  for (SMBinaryArchive* archive in descriptor.binaryArchives) {
    if (auto module =
            (*archive->modules_)->find(library.code().key, name_in_archives(descriptor), problem))
      return library.function(*function->name_, std::move(module), problem);
  }
  if ((options & MTLPipelineOptionFailOnBinaryArchiveMiss) == 0)
    return library.function(*function->name_, problem);
  problem = "kernel \"" + *function->name_ + "\" is in none of the binary archives";
  return nullptr;
}

const char* misuse_of(id<MTLDevice> device, MTLComputePipelineDescriptor* descriptor) {
  if (descriptor.computeFunction == nil) return "the function must not be nil";
  if ([descriptor.computeFunction device] != device)
    return "the function belongs to another device";
  for (id<MTLBinaryArchive> archive in descriptor.binaryArchives) {
    if (archive.device != device) return "the binary archive belongs to another device";
  }
  return nullptr;
}

}  // namespace

std::string limit_problem(const Function& function) {
  if (function.threadgroup_memory <= kThreadgroupMemory) return "";
  return "kernel \"" + function.name + "\" has " + std::to_string(function.threadgroup_memory) +
         " bytes of threadgroup memory, and the device " + std::to_string(kThreadgroupMemory);
}

std::string indirect_problem(const Function& function) {
  for (const ArgumentInfo& each : function.arguments) {
    if (!each.present || !each.parameter.binding) continue;
    const bool is_texture = *each.parameter.binding == BindingKind::Texture;
    if (!is_texture && *each.parameter.binding != BindingKind::Sampler) continue;
    return "Compute function cannot be used with indirect command buffers: kernel \"" +
           function.name + "\" takes the " + (is_texture ? "texture" : "sampler") + " \"" +
           each.parameter.name + "\" as an argument; an argument buffer may refer to it";
  }
  return "";
}

namespace {

std::shared_ptr<const PipelineState> state_of(id<MTLDevice> device,
                                              MTLComputePipelineDescriptor* descriptor,
                                              std::shared_ptr<Function> function) {
  auto state = std::make_shared<PipelineState>();
  const DeviceModel& model = *((SMDevice*)device)->model_;
  state->simd_width = model.simd_width;
  state->most_threads = function->max_threads != 0 ? function->max_threads : kMaxThreads;
  if (descriptor.maxTotalThreadsPerThreadgroup != 0)
    state->most_threads = std::min(state->most_threads, descriptor.maxTotalThreadsPerThreadgroup);
  state->is_multiple = descriptor.threadGroupSizeIsMultipleOfThreadExecutionWidth;
  state->supports_indirect = descriptor.supportIndirectCommandBuffers;
  if (state->supports_indirect)
    state->most_threads = std::min<NSUInteger>(state->most_threads, model.indirect_threads);
  state->function = std::move(function);
  return state;
}

}  // namespace

id<MTLComputePipelineState> new_pipeline(id<MTLDevice> device,
                                         MTLComputePipelineDescriptor* descriptor,
                                         MTLPipelineOption options,
                                         MTLAutoreleasedComputePipelineReflection* reflection,
                                         NSError** error) {
  if (const char* const misuse = misuse_of(device, descriptor)) {
    report_misuse(std::string("newComputePipelineState: ") + misuse);
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
  std::string problem;
  auto generated = generate(descriptor, options, problem);
  if (generated != nullptr) problem = limit_problem(*generated);
  if (generated != nullptr && problem.empty() && descriptor.supportIndirectCommandBuffers)
    problem = indirect_problem(*generated);
  if (!problem.empty()) {
    set_error(error, MTLLibraryErrorDomain, MTLLibraryErrorInternal, problem);
    return nil;
  }
  SMPipeline* const pipeline = [[SMPipeline alloc] initWithDevice:device kind:"pipeline state"];
  pipeline->pipeline_ =
      new std::shared_ptr<const PipelineState>(state_of(device, descriptor, generated));
  [pipeline setLabel:descriptor.label];
  constexpr auto kDescribes = MTLPipelineOptionArgumentInfo | MTLPipelineOptionBufferTypeInfo;
  if (reflection != nullptr && (options & kDescribes) != 0) {
    MTLComputePipelineReflection* const made = [[MTLComputePipelineReflection new] autorelease];
    made->bindings_ = [bindings_of(*generated) retain];
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
  delete pipeline_;
  [super dealloc];
}
- (NSUInteger)threadExecutionWidth {
  return (*pipeline_)->simd_width;
}
- (NSUInteger)maxTotalThreadsPerThreadgroup {
  return (*pipeline_)->most_threads;
}
- (NSUInteger)staticThreadgroupMemoryLength {
  return (*pipeline_)->function->threadgroup_memory;
}
- (BOOL)supportIndirectCommandBuffers {
  return (*pipeline_)->supports_indirect;
}
- (MTLResourceID)gpuResourceID {
  return MTLResourceID{reinterpret_cast<uint64_t>((*pipeline_)->function.get())};
}
@end

@implementation SMSampler
- (MTLResourceID)gpuResourceID {
  return MTLResourceID{bits_.bits};
}
@end
