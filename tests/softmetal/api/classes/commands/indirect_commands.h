// Indirect command buffers. Their commands are read when a command buffer that executes them runs.
// For Objective-C++ sources only.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/softmetal/api/classes/commands/commands.h"
#include "tests/softmetal/api/classes/commands/compute_state.h"

namespace softmetal {

// A command, which retains neither its pipeline state nor its buffers.
struct IndirectCommand {
  struct Bound {
    Resident buffer;
    size_t offset = 0;
    std::shared_ptr<ObjectState> object;
  };
  std::shared_ptr<const PipelineState> pipeline;  // null if none is set, or if it is inherited
  std::shared_ptr<ObjectState> pipeline_object;
  std::map<int, Bound> buffers;
  std::optional<DispatchSize> dispatch;
  bool has_barrier = false;
};

// The commands of an indirect command buffer, which may outlive the buffer. Thread safe.
class IndirectCommands {
 public:
  IndirectCommands(MTLIndirectCommandBufferDescriptor* descriptor, size_t size,
                   std::shared_ptr<ObjectState> owner);

  size_t size() const { return commands_.size(); }
  IndirectCommand at(size_t index) const;
  // Changes the commands; reports a misuse if the range is invalid or in flight.
  template <class Change>
  void change(const char* call, NSRange range, const Change& by) {
    const std::lock_guard lock(mutex_);
    const std::string problem = problem_of_change(range);
    if (!problem.empty()) return report_misuse(std::string(call) + ": " + problem);
    for (NSUInteger i = 0; i < range.length; ++i) by(commands_[range.location + i]);
  }
  // Called when a command buffer that executes the range is committed, and when it completes.
  void begin(NSRange range);
  void end(NSRange range);
  // Returns the objects that the range's dispatches use.
  std::vector<std::shared_ptr<ObjectState>> needed_by(NSRange range) const;

  const MTLIndirectCommandType types;
  const bool inherits_pipeline, inherits_buffers;
  const size_t most_buffers;  // of a command

 private:
  std::string problem_of_change(NSRange range) const;

  const std::shared_ptr<ObjectState> owner_;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<IndirectCommand> commands_;
  std::vector<NSRange> in_flight_;
};

// An encoder's execution of indirect commands.
struct IndirectExecution {
  std::shared_ptr<IndirectCommands> commands;
  NSRange range;
  std::shared_ptr<const PipelineState> pipeline;  // of the encoder
  std::shared_ptr<const Dispatched> inherited;
  // The pipelines that the encoder has used; set only on GPUs that allow no others.
  std::optional<std::set<std::shared_ptr<const PipelineState>>> usable;

  // Returns the error, if any; reports misuses.
  std::string run(Run& run) const;

 private:
  std::string prepare(Dispatched& dispatched, const IndirectCommand& command,
                      const std::vector<Resident>& of_sets) const;
  std::string problem_of_pipeline(const PipelineState& state) const;
};

// Returns why an encoder may not execute the range, or an empty string.
std::string problem_of_execution(const IndirectCommands& commands, NSRange range);

id<MTLIndirectCommandBuffer> new_indirect_command_buffer(
    id<MTLDevice> device, MTLIndirectCommandBufferDescriptor* descriptor, NSUInteger size,
    MTLResourceOptions options);

}  // namespace softmetal

@interface SMIndirectCommandBuffer : SMResource <MTLIndirectCommandBuffer> {
 @public
  std::shared_ptr<softmetal::IndirectCommands>* commands_;
}
@end

@interface SMIndirectComputeCommand : NSObject <MTLIndirectComputeCommand> {
 @public
  id<MTLDevice> device_;
  std::shared_ptr<softmetal::IndirectCommands>* commands_;
  NSUInteger index_;
}
@end
