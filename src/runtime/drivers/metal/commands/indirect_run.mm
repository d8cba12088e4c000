#include "runtime/drivers/metal/commands/indirect_run.h"

#include <algorithm>
#include <span>

#include "runtime/drivers/metal/api/limits.h"
#include "runtime/drivers/metal/api/objects.h"
#include "runtime/drivers/metal/commands/references.h"
#include "runtime/drivers/metal/kernels/program.h"
#include "runtime/drivers/metal/memory/memory.h"

namespace texloom::hal::metal {
namespace {

// Reserves bytes at `end`, which it advances; returns their offset.
std::uint64_t take(std::uint64_t& end, std::uint64_t bytes) {
  const std::uint64_t begin = end;
  end += (bytes + kConstantAlignment - 1) / kConstantAlignment * kConstantAlignment;
  return begin;
}

// Adds the places of each dispatch, one after the other; returns their total size in bytes.
std::uint64_t lay_out(const DispatchRun& run, std::vector<ArgumentPlaces>& places) {
  std::uint64_t bytes = 0;
  for (auto each = run.begin; each != run.end; ++each) {
    const KernelCall* const call = call_of(*each);
    if (call == nullptr) continue;
    const KernelSlots& slots = kernel_of(*call).slots;
    const std::uint64_t addresses = take(bytes, slots.resources() * sizeof(std::uint64_t));
    places.push_back({addresses, take(bytes, slots.constant_bytes)});
  }
  return bytes;
}

void record_dispatch(id<MTLIndirectComputeCommand> command, const DispatchSegment& segment,
                     MetalMemory* arguments, const ArgumentPlaces& places) {
  const Kernel& kernel = kernel_of(segment.call);
  [command setComputePipelineState:objc(kernel.pipeline)];
  [command setKernelBuffer:objc(arguments) offset:places.addresses atIndex:0];
  if (kernel.slots.constant_bytes > 0)
    [command setKernelBuffer:objc(arguments)
                      offset:places.constants
                     atIndex:kernel.slots.constants_slot()];
  [command concurrentDispatchThreadgroups:size_of(segment.groups)
                    threadsPerThreadgroup:size_of(segment.call.entry().workgroup_size)];
}

Handle<MetalIndirect> new_commands(const Context& context, std::uint32_t count) {
  MTLIndirectCommandBufferDescriptor* const descriptor =
      [[[MTLIndirectCommandBufferDescriptor alloc] init] autorelease];
  descriptor.commandTypes = MTLIndirectCommandTypeConcurrentDispatch;
  descriptor.inheritPipelineState = NO;
  descriptor.inheritBuffers = NO;
  descriptor.maxKernelBufferBindCount = 2;  // addresses and constants
  return adopt<MetalIndirect>([objc(context.device())
      newIndirectCommandBufferWithDescriptor:descriptor
                             maxCommandCount:count
                                     options:MTLResourceStorageModeShared |
                                             MTLResourceHazardTrackingModeUntracked]);
}

}  // namespace

std::shared_ptr<IndirectRun> IndirectRun::record(const Context& context, const DispatchRun& run) {
  const std::shared_ptr<IndirectRun> made(new IndirectRun);
  made->commands_ = new_commands(context, run.dispatches);
  const std::uint64_t bytes = lay_out(run, made->places_);
  auto arguments = create_memory(context, bytes, MemoryKind::Shared);
  if (!made->commands_ || !arguments.ok()) return nullptr;
  // The memory is in no residency set: the device's set may be released before a command buffer
  // that keeps the run.
  made->arguments_ = *std::move(arguments);
  // GPUs of families before Apple9 fault if an indirect command uses a pipeline that the encoder
  // itself has not used (found by tinygrad's Metal graphs).
  const bool needs_pipelines = ![objc(context.device()) supportsFamily:MTLGPUFamilyApple9];
  std::uint32_t number = 0;
  bool is_after_barrier = false;
  for (auto each = run.begin; each != run.end; ++each) {
    const auto* dispatch = std::get_if<DispatchSegment>(&*each);
    if (dispatch == nullptr) {
      is_after_barrier = true;
      continue;
    }
    const Kernel& kernel = kernel_of(dispatch->call);
    id<MTLIndirectComputeCommand> const command =
        [objc(made->commands_) indirectComputeCommandAtIndex:number];
    record_dispatch(command, *dispatch, made->arguments_.get(), made->places_[number++]);
    if (is_after_barrier) [command setBarrier];
    made->has_barriers_ = made->has_barriers_ || is_after_barrier;
    is_after_barrier = false;
    made->has_slots_ = made->has_slots_ || dispatch->call.has_slots;
    std::vector<MetalPipeline*>& pipelines = made->pipelines_;
    MetalPipeline* const pipeline = kernel.pipeline.get();
    if (needs_pipelines &&
        std::find(pipelines.begin(), pipelines.end(), pipeline) == pipelines.end())
      pipelines.push_back(pipeline);
  }
  return made;
}

bool IndirectRun::is_bound(const CommandRange& range) const {
  return is_bound_ && (!has_slots_ || table_number_ == range.table_number());
}

void IndirectRun::bind(const DispatchRun& run, const CommandRange& range) {
  auto* const memory = static_cast<std::byte*>(objc(arguments_).contents);
  used_ = {{arguments_.get(), Access::Read}};
  auto place = places_.begin();
  std::vector<Reference> references;
  for (auto each = run.begin; each != run.end; ++each) {
    const KernelCall* const call = call_of(*each);
    if (call == nullptr) continue;
    const ArgumentPlaces& places = *place++;
    find_references(*call, range.table(), references);
    auto* const addresses = reinterpret_cast<std::uint64_t*>(memory + places.addresses);
    for (std::size_t i = 0; i < references.size(); ++i) {
      const Reference& reference = references[i];
      addresses[i] = reference.address;
      add_use(used_, reference.resource, reference.access);
    }
    pack_constants(call->constants,
                   {memory + places.constants, kernel_of(*call).slots.constant_bytes});
  }
  is_bound_ = true;
  table_number_ = range.table_number();
}

// Metal does not promise that barriers of indirect commands order commands outside of the indirect
// command buffer, so barriers of the encoder order the outside commands.
Status IndirectRun::encode(Passes& passes) const {
  if (has_barriers_) passes.barrier();
  TL_ASSIGN_OR_RETURN(MetalCompute* const encoder, passes.compute());
  ArgumentTable& arguments = passes.arguments();
  for (const auto& [resource, access] : used_) arguments.use(resource, access);
  for (MetalPipeline* pipeline : pipelines_) {
    arguments.set_pipeline(pipeline);
    for (const std::uint32_t slot : {0, 1}) arguments.set_buffer(slot, arguments_.get(), 0);
    [objc(encoder) dispatchThreadgroups:MTLSizeMake(0, 0, 0)
                  threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
  }
  [objc(encoder) executeCommandsInBuffer:objc(commands_) withRange:NSMakeRange(0, places_.size())];
  arguments.forget();
  if (has_barriers_) passes.barrier();
  return {};
}

}  // namespace texloom::hal::metal
