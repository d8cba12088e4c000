// The encoders of a queue's command buffers, one open at a time, and the order among them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/drivers/metal/api/handle.h"
#include "runtime/drivers/metal/commands/argument_table.h"
#include "runtime/drivers/metal/commands/samples.h"
#include "runtime/drivers/metal/platform/context.h"
#include "runtime/hal/segment.h"
#include "support/status.h"

namespace texloom::hal::metal {

// Metal tracks no hazards of this driver's memory, so this class orders the commands:
//
//   * Inside a compute encoder, whose dispatches are concurrent, memory barriers order them where
//     the command buffer has barriers.
//   * A blit encoder has no barriers, so a barrier ends it.
//   * Each encoder waits for a fence that the previous one updates, even in an earlier command
//     buffer of the queue. One fence is enough, because its updates and waits are in the order in
//     which command buffers are committed.
//   * Encoders that other code makes do not know the fence, so an event orders them.
//
// Used by one thread at a time, inside an autorelease pool.
class Passes {
 public:
  // `queue` outlives this object.
  static Result<Passes> create(const Context& context, MetalQueue* queue);

  // Begins a command buffer, which keeps no object alive. The caller has committed or dropped the
  // previous one.
  Status begin();
  MetalCommands* commands() const { return commands_.get(); }
  // Ends the open encoder. After that only events may be encoded.
  Status end();
  // Submits the command buffer, which has ended, and returns it.
  Handle<MetalCommands> commit();
  // Discards the open command buffer, if there is one; none of its commands runs.
  void drop();

  // Return the encoder for the next command, which runs after the commands before the last barrier.
  Result<MetalCompute*> compute();
  Result<MetalBlit*> blit();
  // The arguments of the encoder that compute() returned.
  ArgumentTable& arguments() { return arguments_; }
  // Call this after other code has used the encoder.
  void forget_arguments() { arguments_.begin(compute_.get()); }
  bool is_computing() const { return static_cast<bool>(compute_); }
  // The command buffer without an open encoder. Commands that other code encodes before the next
  // call of compute() or blit() run after all earlier and before all later commands.
  MetalCommands* lend_commands();

  // The two samples measure the commands between these calls. Needs an encoder of compute() or
  // blit(), which no earlier command may have used if encoders are sampled.
  void begin_sampled(const SamplePair& samples, SamplingPoint point);
  void end_sampled();

  // Orders later commands after earlier ones.
  void barrier(const BarrierSegment& segment, std::span<const Binding> table);
  void barrier();

 private:
  Passes() = default;
  void end_encoder();
  void end_loan();
  void fence_off();
  Status begin_compute();
  Status begin_blit();
  template <typename Object>
  void sample_begin(Object* encoder);
  void encode_barrier();
  void add(const BarrierResource& resource, std::span<const Binding> table);

  const Context* context_ = nullptr;
  MetalQueue* queue_ = nullptr;
  Handle<MetalFence> fence_;
  Handle<MetalEvent> event_;
  std::uint64_t event_value_ = 0;

  Handle<MetalCommands> commands_;
  Handle<MetalCompute> compute_;  // at most one of the two encoders is open
  Handle<MetalBlit> blit_;
  ArgumentTable arguments_;
  bool is_lent_ = false;
  // A fence may be waited for only after it was updated.
  bool fence_is_updated_ = false;       // by a committed command buffer
  bool fence_is_updated_here_ = false;  // by the open command buffer

  SamplePair samples_;  // of the command that is encoded, if it is sampled
  SamplingPoint sampling_point_ = SamplingPoint::None;
  bool has_begin_ = false;  // whether the first sample is encoded

  // Whether the next command must wait, and for which accesses.
  bool has_barrier_ = false;
  BarrierScope barrier_scope_ = BarrierScope::None;  // all memory of this kind
  std::vector<void*> barrier_resources_;             // id<MTLResource>
};

}  // namespace texloom::hal::metal
