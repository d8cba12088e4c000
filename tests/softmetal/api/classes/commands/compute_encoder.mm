#include "tests/softmetal/api/classes/commands/capture.h"
#include "tests/softmetal/api/classes/commands/commands.h"
#include "tests/softmetal/api/classes/commands/compute_state.h"
#include "tests/softmetal/api/classes/commands/indirect_commands.h"

using softmetal::report_misuse;
using softmetal::Run;

@implementation SMComputeEncoder
- (instancetype)initWithBuffer:(SMCommandBuffer*)buffer
                          type:(MTLDispatchType)type
                       samples:(std::vector<softmetal::PassSamples>)samples {
  self = [super initWithBuffer:buffer
                          kind:"compute encoder"
                          pass:type == MTLDispatchTypeSerial ? softmetal::Pass::Kind::Serial
                                                             : softmetal::Pass::Kind::Concurrent
                       samples:std::move(samples)];
  compute_ = new SMComputeState;
  type_ = type;
  return self;
}
- (void)dealloc {
  delete compute_;
  [super dealloc];
}
- (MTLDispatchType)dispatchType {
  return type_;
}
- (BOOL)mayBind:(const char*)call index:(NSUInteger)index below:(size_t)slots {
  if (![self mayEncode:call]) return NO;
  if (index < slots) return YES;
  report_misuse(std::string(call) + ": the index must be below " + std::to_string(slots));
  return NO;
}
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state {
  if (![self mayEncode:"setComputePipelineState"] ||
      ![self owns:state as:"setComputePipelineState: the state"])
    return;
  compute_->pipeline = *((SMPipeline*)state)->pipeline_;
  [commands_ need:(SMPipeline*)state];
}
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index {
  if (![self mayBind:"setBuffer" index:index below:softmetal::kBufferSlots]) return;
  const int i = static_cast<int>(index);
  compute_->bytes.erase(i);
  compute_->buffers.erase(i);
  if (buffer == nil || ![self owns:buffer as:"setBuffer: the buffer"]) return;
  if (offset >= [buffer length])
    return report_misuse("setBuffer: the offset must lie in the buffer");
  compute_->buffers[i] = {(SMBuffer*)buffer, offset};
  [commands_ need:(SMBuffer*)buffer];
}
- (void)setBufferOffset:(NSUInteger)offset atIndex:(NSUInteger)index {
  if (![self mayBind:"setBufferOffset" index:index below:softmetal::kBufferSlots]) return;
  const auto found = compute_->buffers.find(static_cast<int>(index));
  if (found == compute_->buffers.end())
    return report_misuse("setBufferOffset: no buffer is bound at the index");
  [self setBuffer:found->second.buffer offset:offset atIndex:index];
}
- (void)setBuffers:(const id<MTLBuffer>*)buffers
           offsets:(const NSUInteger*)offsets
         withRange:(NSRange)range {
  for (NSUInteger i = 0; i < range.length; ++i)
    [self setBuffer:buffers[i] offset:offsets[i] atIndex:range.location + i];
}
- (void)setBytes:(const void*)bytes length:(NSUInteger)length atIndex:(NSUInteger)index {
  if (![self mayBind:"setBytes" index:index below:softmetal::kBufferSlots]) return;
  if (length == 0 || length > 4096)
    return report_misuse("setBytes: the length must be from 1 to 4096 bytes");
  const auto* from = static_cast<const uint8_t*>(bytes);
  compute_->buffers.erase(static_cast<int>(index));
  compute_->bytes[static_cast<int>(index)].assign(from, from + length);
}
- (void)setTexture:(id<MTLTexture>)texture atIndex:(NSUInteger)index {
  if (![self mayBind:"setTexture" index:index below:softmetal::kTextureSlots]) return;
  compute_->textures.erase(static_cast<int>(index));
  if (texture == nil || ![self owns:texture as:"setTexture: the texture"]) return;
  compute_->textures[static_cast<int>(index)] = (SMTexture*)texture;
  [commands_ need:(SMTexture*)texture];
}
- (void)setTextures:(const id<MTLTexture>*)textures withRange:(NSRange)range {
  for (NSUInteger i = 0; i < range.length; ++i)
    [self setTexture:textures[i] atIndex:range.location + i];
}
- (void)setSamplerState:(id<MTLSamplerState>)sampler atIndex:(NSUInteger)index {
  if (![self mayBind:"setSamplerState" index:index below:softmetal::kSamplerSlots]) return;
  compute_->samplers.erase(static_cast<int>(index));
  if (sampler == nil || ![self owns:sampler as:"setSamplerState: the sampler"]) return;
  compute_->samplers[static_cast<int>(index)] = ((SMSampler*)sampler)->bits_;
}
- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index {
  if (![self mayBind:"setThreadgroupMemoryLength" index:index below:softmetal::kBufferSlots])
    return;
  if (length % 16 != 0) {
    return report_misuse("setThreadgroupMemoryLength: the length must be a multiple of 16 bytes");
  }
  compute_->threadgroup_sizes[static_cast<int>(index)] = length;
}
- (void)useResource:(id<MTLResource>)resource usage:(MTLResourceUsage)usage {
  if (![self mayEncode:"useResource"] || ![self owns:resource as:"useResource: the resource"])
    return;
  if ((usage & (MTLResourceUsageRead | MTLResourceUsageWrite)) == 0)
    return report_misuse("useResource: the usage must be for reading or writing");
  compute_->used[(SMResource*)resource] |= usage;
  [commands_ need:(SMResource*)resource];
}
- (void)useResources:(const id<MTLResource>*)resources
               count:(NSUInteger)count
               usage:(MTLResourceUsage)usage {
  for (NSUInteger i = 0; i < count; ++i) [self useResource:resources[i] usage:usage];
}
- (void)useHeap:(id<MTLHeap>)heap {
  if (![self mayEncode:"useHeap"] || ![self owns:heap as:"useHeap: the heap"]) return;
  compute_->used_heaps.insert((SMHeap*)heap);
  [commands_ need:(SMHeap*)heap];
}
- (void)useHeaps:(const id<MTLHeap>*)heaps count:(NSUInteger)count {
  for (NSUInteger i = 0; i < count; ++i) [self useHeap:heaps[i]];
}

- (void)dispatch:(softmetal::DispatchSize)size
        indirect:(SMBuffer*)indirect
          offset:(NSUInteger)offset
              by:(const char*)call {
  const auto dispatched = compute_->dispatched();
  const std::string problem = softmetal::complete(*dispatched, compute_->pipeline, size);
  if (!problem.empty()) {
    const char* const after =
        compute_->has_executed
            ? " (executeCommandsInBuffer leaves pipeline and arguments undefined)"
            : "";
    return report_misuse(std::string(call) + ": " + problem + after);
  }
  compute_->dispatched_pipelines.insert(compute_->pipeline);
  if (size.is_empty()) return;
  if (indirect != nil) {
    [commands_ need:indirect];
    dispatched->indirect = {*indirect->part_, offset, softmetal::name_for_uses(indirect)};
  }
  if (softmetal::is_captured([commands_ commandQueue]))
    softmetal::capture(self, "the kernel is \"" + dispatched->function->name + "\"");
  [commands_ record:[=](Run& run) { return dispatched->run(*run.pass, run.residents); }];
}
- (void)dispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)threads {
  if (![self mayEncode:"dispatchThreadgroups"]) return;
  [self dispatch:{groups, threads} indirect:nil offset:0 by:"dispatchThreadgroups"];
}
- (void)dispatchThreads:(MTLSize)grid threadsPerThreadgroup:(MTLSize)threads {
  if (![self mayEncode:"dispatchThreads"]) return;
  [self dispatch:{grid, threads, true} indirect:nil offset:0 by:"dispatchThreads"];
}
- (void)dispatchThreadgroupsWithIndirectBuffer:(id<MTLBuffer>)buffer
                          indirectBufferOffset:(NSUInteger)offset
                         threadsPerThreadgroup:(MTLSize)threads {
  if (![self mayEncode:"dispatchThreadgroupsWithIndirectBuffer"] ||
      ![self owns:buffer as:"dispatchThreadgroupsWithIndirectBuffer: the buffer"])
    return;
  if (offset % 4 != 0 || offset > [buffer length] || [buffer length] - offset < 12) {
    return report_misuse("dispatchThreadgroupsWithIndirectBuffer: the offset must be a multiple "
                         "of 4, and 12 bytes from there lie in the buffer");
  }
  [self dispatch:{MTLSizeMake(1, 1, 1), threads}
        indirect:(SMBuffer*)buffer
          offset:offset
              by:"dispatchThreadgroupsWithIndirectBuffer"];
}
- (void)executeCommandsInBuffer:(id<MTLIndirectCommandBuffer>)buffer withRange:(NSRange)range {
  if (![self mayEncode:"executeCommandsInBuffer"] ||
      ![self owns:buffer as:"executeCommandsInBuffer: the indirect command buffer"])
    return;
  SMIndirectCommandBuffer* const indirect = (SMIndirectCommandBuffer*)buffer;
  const std::shared_ptr<softmetal::IndirectCommands> commands = *indirect->commands_;
  const std::string problem = softmetal::problem_of_execution(*commands, range);
  if (!problem.empty()) return report_misuse("executeCommandsInBuffer: " + problem);
  softmetal::IndirectExecution execution{
      commands, range, compute_->pipeline, compute_->inherited(commands->inherits_buffers), {}};
  if (![device_ supportsFamily:MTLGPUFamilyApple9])
    execution.usable = compute_->dispatched_pipelines;
  [commands_ need:indirect];
  [commands_ executes:commands range:range];
  if (softmetal::is_captured([commands_ commandQueue])) {
    softmetal::capture(self, std::to_string(range.length) + " commands from " +
                                 std::to_string(range.location) + " on of " + [indirect described] +
                                 " are executed");
  }
  [commands_ record:[=](Run& run) { return execution.run(run); }];
  compute_->forget_arguments();
}
- (void)memoryBarrierWithScope:(MTLBarrierScope)scope {
  if (![self mayEncode:"memoryBarrierWithScope"]) return;
  if (scope == 0) return report_misuse("memoryBarrierWithScope: the scope is empty");
  [commands_ record:[=](Run& run) {
    if ((scope & MTLBarrierScopeBuffers) != 0) run.pass->buffers_done = run.pass->command;
    if ((scope & MTLBarrierScopeTextures) != 0) run.pass->textures_done = run.pass->command;
    return std::string();
  }];
}
- (void)memoryBarrierWithResources:(const id<MTLResource>*)resources count:(NSUInteger)count {
  if (![self mayEncode:"memoryBarrierWithResources"]) return;
  std::vector<const void*> objects;
  for (NSUInteger i = 0; i < count; ++i) {
    if (![self owns:resources[i] as:"memoryBarrierWithResources: a resource"]) return;
    objects.push_back(resources[i]);
    [commands_ need:(SMResource*)resources[i]];
  }
  [commands_ record:[=](Run& run) {
    for (const void* object : objects) run.pass->done[object] = run.pass->command;
    return std::string();
  }];
}
@end
