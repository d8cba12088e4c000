// Queues, command buffers and encoders. For Objective-C++ sources alone.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/softmetal/api/classes/checks/hazards.h"
#include "tests/softmetal/api/classes/commands/counters.h"
#include "tests/softmetal/api/classes/commands/events.h"
#include "tests/softmetal/api/classes/object.h"
#include "tests/softmetal/api/classes/resources/residency_set.h"

@class SMCommandBuffer;
@class SMEncoder;

namespace softmetal {

// A command buffer while it runs.
struct Run {
  const void* queue = nullptr;
  PassSet known;                    // what is complete before its next pass
  PassSet done;                     // its passes, and what they knew
  std::optional<Pass> pass;         // of the encoder whose commands run
  std::vector<Resident> residents;  // of residency sets, when it was committed
};
class IndirectCommands;
// Returns what went wrong, or nothing.
using Command = std::function<std::string(Run&)>;

// An update of a fence counts as soon as its command buffer has ended, also by an error, so that
// nobody waits in vain.
void update_fence(FenceState& fence, const Run& run);

}  // namespace softmetal

// Command buffers run in the order in which they were enqueued, or else committed.
@interface SMQueue : SMObject <MTLCommandQueue> {
 @public
  struct SMQueueState* queue_;
}
- (instancetype)initWithDevice:(id<MTLDevice>)device;
- (void)enqueue:(SMCommandBuffer*)buffer;
- (void)runCommitted;        // later, on a thread of the queue
- (softmetal::PassSet)done;  // by command buffers up to now
- (void)add:(const softmetal::PassSet&)passes;
- (std::vector<softmetal::Resident>)residents;  // of its residency sets
@end

@interface SMCommandBuffer : SMObject <MTLCommandBuffer> {
 @public
  struct SMCommandBufferState* buffer_;
}
- (instancetype)initWithQueue:(SMQueue*)queue retains:(BOOL)retains;
- (void)record:(softmetal::Command)command;
// The command buffer's commands use an object: it is retained, or must live until they are done.
- (void)need:(SMObject*)object;
- (void)updates:(std::shared_ptr<softmetal::FenceState>)fence;
// Indirect commands must stay as they are from `commit` on until the command buffer completes.
- (void)executes:(std::shared_ptr<softmetal::IndirectCommands>)commands range:(NSRange)range;
- (void)encoderEnded;
- (void)run;
@end

@interface SMEncoder : SMObject <MTLCommandEncoder> {
 @public
  SMCommandBuffer* commands_;
  BOOL ended_;
  int groups_;
  std::set<const void*>* updated_fences_;
  std::vector<softmetal::PassSamples>* samples_;  // taken when it begins and ends
}
- (instancetype)initWithBuffer:(SMCommandBuffer*)buffer
                          kind:(const char*)kind
                          pass:(softmetal::Pass::Kind)pass
                       samples:(std::vector<softmetal::PassSamples>)samples;
- (BOOL)mayEncode:(const char*)call;           // reports a misuse if encoding has ended
- (BOOL)owns:(id)object as:(const char*)what;  // reports objects of another device, and null
@end

@interface SMEncoder (Counters)
// Records that the time is sampled, unless the index is MTLCounterDontSample.
- (void)sample:(SMCounterSampleBuffer*)buffer at:(NSUInteger)index;
- (void)sampleCountersInBuffer:(id<MTLCounterSampleBuffer>)buffer
                 atSampleIndex:(NSUInteger)index
                   withBarrier:(BOOL)barrier;
@end

@interface SMComputeEncoder : SMEncoder <MTLComputeCommandEncoder> {
 @public
  struct SMComputeState* compute_;
  MTLDispatchType type_;
}
- (instancetype)initWithBuffer:(SMCommandBuffer*)buffer
                          type:(MTLDispatchType)type
                       samples:(std::vector<softmetal::PassSamples>)samples;
@end

@interface SMBlitEncoder : SMEncoder <MTLBlitCommandEncoder>
- (instancetype)initWithBuffer:(SMCommandBuffer*)buffer
                       samples:(std::vector<softmetal::PassSamples>)samples;
@end
