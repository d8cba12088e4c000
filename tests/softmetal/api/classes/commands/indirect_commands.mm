#include "tests/softmetal/api/classes/commands/indirect_commands.h"

#include <algorithm>

#include "tests/softmetal/api/classes/checks/faults.h"

using softmetal::IndirectCommand;
using softmetal::report_misuse;

namespace softmetal {
namespace {

constexpr auto kDispatches =
    MTLIndirectCommandTypeConcurrentDispatch | MTLIndirectCommandTypeConcurrentDispatchThreads;
// The pretended size of a command, so that the indirect command buffer has a size.
constexpr size_t kBytes = 256;

bool overlap(NSRange a, NSRange b) {
  return a.location < b.location + b.length && b.location < a.location + a.length;
}

std::string problem_of(MTLIndirectCommandBufferDescriptor* d, NSUInteger size,
                       MTLResourceOptions options) {
  if (d == nil) return "the descriptor must not be nil";
  if (d.commandTypes == 0 || (d.commandTypes & ~kDispatches) != 0)
    return "the command types must be concurrent dispatches, as the software Metal draws nothing";
  if (size == 0 || size > kMostIndirectCommands)
    return "maxCommandCount must be from 1 to " + std::to_string(kMostIndirectCommands);
  if (d.maxKernelBufferBindCount > kBufferSlots)
    return "maxKernelBufferBindCount is over the limit of " + std::to_string(kBufferSlots);
  if (storage_mode(options) == MTLStorageModeMemoryless)
    return "MTLStorageModeMemoryless is for textures alone";
  return {};
}

}  // namespace

id<MTLIndirectCommandBuffer> new_indirect_command_buffer(id<MTLDevice> device,
                                                         MTLIndirectCommandBufferDescriptor* d,
                                                         NSUInteger size,
                                                         MTLResourceOptions options) {
  const std::string problem = problem_of(d, size, options);
  if (!problem.empty()) {
    report_misuse("newIndirectCommandBufferWithDescriptor: " + problem);
    return nil;
  }
  if (must_fail("newIndirectCommandBuffer")) return nil;
  auto storage = allocate(device, size * kBytes, storage_mode(options));
  if (!storage->is_there()) return nil;
  SMIndirectCommandBuffer* const buffer =
      [[SMIndirectCommandBuffer alloc] initWithDevice:device kind:"indirect command buffer"];
  [buffer takePart:{std::move(storage), 0, size * kBytes} options:options heap:nil];
  buffer->commands_ = new std::shared_ptr<IndirectCommands>(
      std::make_shared<IndirectCommands>(d, size, *buffer->state_));
  return buffer;
}

IndirectCommands::IndirectCommands(MTLIndirectCommandBufferDescriptor* descriptor, size_t size,
                                   std::shared_ptr<ObjectState> owner)
    : types(descriptor.commandTypes),
      inherits_pipeline(descriptor.inheritPipelineState),
      inherits_buffers(descriptor.inheritBuffers),
      most_buffers(descriptor.maxKernelBufferBindCount),
      owner_(std::move(owner)),
      commands_(size) {}

IndirectCommand IndirectCommands::at(size_t index) const {
  const std::lock_guard lock(mutex_);
  return commands_[index];
}

std::string IndirectCommands::problem_of_change(NSRange range) const {
  if (owner_->is_gone) return "the indirect command buffer was deallocated";
  if (range.location > commands_.size() || range.length > commands_.size() - range.location) {
    return "the indirect command buffer has " + std::to_string(commands_.size()) + " commands";
  }
  if (std::any_of(in_flight_.begin(), in_flight_.end(),
                  [&](NSRange each) { return overlap(each, range); })) {
    return "a command buffer that executes the command, and has not completed, reads it when it "
           "runs";
  }
  return {};
}

void IndirectCommands::begin(NSRange range) {
  const std::lock_guard lock(mutex_);
  in_flight_.push_back(range);
}

void IndirectCommands::end(NSRange range) {
  const std::lock_guard lock(mutex_);
  in_flight_.erase(std::find_if(in_flight_.begin(), in_flight_.end(),
                                [&](NSRange each) { return NSEqualRanges(each, range); }));
}

std::vector<std::shared_ptr<ObjectState>> IndirectCommands::needed_by(NSRange range) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<ObjectState>> needed;
  for (NSUInteger i = range.location; i < NSMaxRange(range); ++i) {
    const IndirectCommand& command = commands_[i];
    if (!command.dispatch) continue;
    if (command.pipeline_object != nullptr) needed.push_back(command.pipeline_object);
    for (const auto& [index, bound] : command.buffers) needed.push_back(bound.object);
  }
  return needed;
}

std::string IndirectExecution::problem_of_pipeline(const PipelineState& state) const {
  if (!state.supports_indirect)
    return "the pipeline state was made without supportIndirectCommandBuffers";
  if (usable && std::none_of(usable->begin(), usable->end(),
                             [&](const auto& each) { return each.get() == &state; })) {
    return "GPUs before family Apple9 fault unless the encoder itself has used the pipeline state: "
           "setComputePipelineState, and then a dispatch, which may be of no threadgroups";
  }
  return {};
}

// Binds the command's own arguments. Returns why it cannot run, or an empty string.
std::string IndirectExecution::prepare(Dispatched& dispatched, const IndirectCommand& command,
                                       const std::vector<Resident>& of_sets) const {
  for (const auto& [index, bound] : command.buffers) {
    const auto is_writable = dispatched.residency_of(bound.buffer.part, of_sets);
    if (!is_writable) {
      return bound.buffer.object.name +
             " is not resident: it must be named by useResource or useHeap, or be in a residency "
             "set";
    }
    dispatched.bind(index, bound.buffer.part, bound.offset, bound.buffer.object, *is_writable);
  }
  const auto& state = commands->inherits_pipeline ? pipeline : command.pipeline;
  const std::string problem = complete(dispatched, state, *command.dispatch);
  return problem.empty() ? problem_of_pipeline(*state) : problem;
}

std::string IndirectExecution::run(Run& run) const {
  Pass& pass = *run.pass;
  std::string wrong;
  pass.indirect_begin = pass.command;
  for (NSUInteger i = range.location; i < NSMaxRange(range) && wrong.empty(); ++i) {
    const IndirectCommand command = commands->at(i);
    if (!command.dispatch) continue;
    if (command.has_barrier) pass.indirect_done = pass.command;
    Dispatched dispatched = *inherited;
    const std::string problem = prepare(dispatched, command, run.residents);
    if (!problem.empty()) {
      wrong = "command " + std::to_string(i) + " of an indirect command buffer: " + problem;
      report_misuse("executeCommandsInBuffer: " + wrong);
    } else if (!command.dispatch->is_empty()) {
      wrong = dispatched.run(pass, run.residents);
    }
  }
  pass.indirect_begin = UINT32_MAX;
  pass.indirect_done = 0;
  return wrong;
}

std::string problem_of_execution(const IndirectCommands& commands, NSRange range) {
  if (range.length > kMostIndirectCommands) {
    return "the range is over the limit of " + std::to_string(kMostIndirectCommands) + " commands";
  }
  if (range.location > commands.size() || range.length > commands.size() - range.location) {
    return "the range must lie in the indirect command buffer, which has " +
           std::to_string(commands.size()) + " commands";
  }
  return {};
}

}  // namespace softmetal

@implementation SMIndirectCommandBuffer
- (void)dealloc {
  delete commands_;
  [super dealloc];
}
- (NSUInteger)size {
  return (*commands_)->size();
}
- (void)resetWithRange:(NSRange)range {
  (*commands_)->change("resetWithRange", range, [](IndirectCommand& each) { each = {}; });
}
- (id<MTLIndirectComputeCommand>)indirectComputeCommandAtIndex:(NSUInteger)index {
  if (index >= [self size]) {
    report_misuse("indirectComputeCommandAtIndex: the index must be below " +
                  std::to_string([self size]));
    return nil;
  }
  SMIndirectComputeCommand* const command = [[SMIndirectComputeCommand new] autorelease];
  command->device_ = device_;
  command->commands_ = new std::shared_ptr<softmetal::IndirectCommands>(*commands_);
  command->index_ = index;
  return command;
}
@end

@implementation SMIndirectComputeCommand
- (void)dealloc {
  delete commands_;
  [super dealloc];
}
// Changes the command, or reports a misuse.
- (void)change:(const char*)call by:(const std::function<void(IndirectCommand&)>&)change {
  (*commands_)->change(call, NSMakeRange(index_, 1), change);
}
- (void)refuse:(const char*)call because:(const std::string&)problem {
  report_misuse(std::string(call) + ": " + problem);
}
- (std::string)problemOf:(id)object {
  if (object == nil) return "must not be nil";
  return [object device] == device_ ? "" : "belongs to another device";
}
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state {
  constexpr auto kCall = "setComputePipelineState of an indirect command";
  const std::string problem = [self problemOf:state];
  if (!problem.empty()) return [self refuse:kCall because:"the state " + problem];
  if ((*commands_)->inherits_pipeline) {
    return [self refuse:kCall
                because:"the pipeline state is inherited, as the descriptor says "
                        "(inheritPipelineState)"];
  }
  if (!state.supportIndirectCommandBuffers) {
    return [self refuse:kCall
                because:"the pipeline state was made without supportIndirectCommandBuffers"];
  }
  SMPipeline* const pipeline = (SMPipeline*)state;
  [self change:kCall
            by:[=](IndirectCommand& command) {
              command.pipeline = *pipeline->pipeline_;
              command.pipeline_object = *pipeline->state_;
            }];
}
- (void)setKernelBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index {
  const softmetal::IndirectCommands& commands = **commands_;
  std::string problem = [self problemOf:buffer];
  if (!problem.empty()) {
    problem = "the buffer " + problem;
  } else if (commands.inherits_buffers) {
    problem = "buffers are inherited, as the descriptor says (inheritBuffers)";
  } else if (index >= commands.most_buffers) {
    problem = "the index must be below maxKernelBufferBindCount of the descriptor, " +
              std::to_string(commands.most_buffers);
  } else if (offset >= [buffer length]) {
    problem = "the offset must lie in the buffer";
  }
  if (!problem.empty()) return [self refuse:"setKernelBuffer" because:problem];
  SMBuffer* const bound = (SMBuffer*)buffer;
  [self change:"setKernelBuffer"
            by:[=](IndirectCommand& command) {
              command.buffers[static_cast<int>(index)] = {softmetal::resident_of(bound), offset,
                                                          *bound->state_};
            }];
}
- (void)dispatch:(softmetal::DispatchSize)size by:(const char*)call {
  const softmetal::IndirectCommands& commands = **commands_;
  const MTLIndirectCommandType type = size.is_in_threads
                                          ? MTLIndirectCommandTypeConcurrentDispatchThreads
                                          : MTLIndirectCommandTypeConcurrentDispatch;
  if ((commands.types & type) == 0)
    return [self refuse:call
                because:"commandTypes of the descriptor does not have such dispatches"];
  if (!commands.inherits_pipeline) {
    const std::string problem =
        softmetal::problem_of(commands.at(index_).pipeline.get(), size.threads, {});
    if (!problem.empty()) return [self refuse:call because:problem];
  }
  [self change:call by:[=](IndirectCommand& command) { command.dispatch = size; }];
}
- (void)concurrentDispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)threads {
  [self dispatch:{groups, threads} by:"concurrentDispatchThreadgroups"];
}
- (void)concurrentDispatchThreads:(MTLSize)grid threadsPerThreadgroup:(MTLSize)threads {
  [self dispatch:{grid, threads, true} by:"concurrentDispatchThreads"];
}
- (void)setBarrier {
  [self change:"setBarrier" by:[](IndirectCommand& command) { command.has_barrier = true; }];
}
- (void)clearBarrier {
  [self change:"clearBarrier" by:[](IndirectCommand& command) { command.has_barrier = false; }];
}
- (void)reset {
  [self change:"reset" by:[](IndirectCommand& command) { command = {}; }];
}
// Threadgroup memory needs the descriptor's maxKernelThreadgroupMemoryBindCount, which the software
// Metal lacks, like older systems.
- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index {
  (void)index;
  [self refuse:"setThreadgroupMemoryLength of an indirect command"
       because:length % 16 != 0
                   ? "the length must be a multiple of 16 bytes"
                   : "the descriptor's maxKernelThreadgroupMemoryBindCount, which is not there, "
                     "allows none"];
}
@end
