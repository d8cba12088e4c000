// Queues, command buffers and encoders. For Objective-C++ sources only.
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

// The state of a command buffer while it runs.
struct Run {
  const void* queue = nullptr;
  PassSet known;                    // passes that complete before the next one
  PassSet done;                     // the run's passes, and those known earlier
  std::optional<Pass> pass;         // of the running encoder
  std::vector<Resident> residents;  // of residency sets, at the commit
};
class IndirectCommands;
// Returns the error, or an empty string.
using Command = std::function<std::string(Run&)>;

// Updates a fence when the command buffer has ended, also with an error, so that no waiter hangs.
void update_fence(FenceState& fence, const Run& run);

}  // namespace softmetal

// Command buffers run in the order of their enqueue, or of their commit if they were not enqueued.
@interface SMQueue : SMObject <MTLCommandQueue> {
 @public
  struct SMQueueState* queue_;
}
- (instancetype)initWithDevice:(id<MTLDevice>)device;
- (void)enqueue:(SMCommandBuffer*)buffer;
- (void)runCommitted;        // asynchronously, on a thread of the queue
- (softmetal::PassSet)done;  // the passes that are complete now
- (void)add:(const softmetal::PassSet&)passes;
- (std::vector<softmetal::Resident>)residents;  // of the queue's residency sets
@end

@interface SMCommandBuffer : SMObject <MTLCommandBuffer> {
 @public
  struct SMCommandBufferState* buffer_;
}
- (instancetype)initWithQueue:(SMQueue*)queue retains:(BOOL)retains;
- (void)record:(softmetal::Command)command;
// Notes that the commands use an object, which is retained or must live until they complete.
- (void)need:(SMObject*)object;
- (void)updates:(std::shared_ptr<softmetal::FenceState>)fence;
// Notes that the commands execute indirect commands, which must not change from `commit` until the
// command buffer completes.
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
  std::vector<softmetal::PassSamples>* samples_;  // at the encoder's begin and end
}
- (instancetype)initWithBuffer:(SMCommandBuffer*)buffer
                          kind:(const char*)kind
                          pass:(softmetal::Pass::Kind)pass
                       samples:(std::vector<softmetal::PassSamples>)samples;
- (BOOL)mayEncode:(const char*)call;           // reports a misuse if encoding has ended
- (BOOL)owns:(id)object as:(const char*)what;  // reports objects of another device, and null
@end

@interface SMEncoder (Counters)
// Records a sample of the time, unless the index is MTLCounterDontSample.
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
