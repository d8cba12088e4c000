#include "tests/softmetal/api/classes/commands/capture.h"
#include "tests/softmetal/api/classes/commands/commands.h"

using softmetal::report_misuse;
using softmetal::Run;

namespace softmetal {
void update_fence(FenceState& fence, const Run& run) {
  const std::lock_guard lock(fence.mutex);
  fence.is_updated = true;
  fence.done.join(run.done);
  if (!run.pass) return;
  fence.done.join(run.pass->known);
  fence.done.add(run.pass->id);
}
}  // namespace softmetal

@implementation SMEncoder
- (instancetype)initWithBuffer:(SMCommandBuffer*)buffer
                          kind:(const char*)kind
                          pass:(softmetal::Pass::Kind)pass
                       samples:(std::vector<softmetal::PassSamples>)samples {
  self = [super initWithDevice:[buffer device] kind:kind];
  commands_ = [buffer retain];
  updated_fences_ = new std::set<const void*>;
  samples_ = new std::vector<softmetal::PassSamples>(std::move(samples));
  [buffer record:[=](Run& run) {
    run.pass.emplace();
    run.pass->kind = pass;
    run.pass->id = softmetal::new_pass();
    run.pass->queue = run.queue;
    run.pass->known = run.known;
    return std::string();
  }];
  for (const softmetal::PassSamples& each : *samples_) [self sample:each.buffer at:each.start];
  return self;
}
- (void)dealloc {
  if (!ended_) {
    report_misuse("dealloc: a command encoder was released without endEncoding");
    [commands_ encoderEnded];
  }
  delete updated_fences_;
  delete samples_;
  [commands_ release];
  [super dealloc];
}
- (void)endEncoding {
  if (![self mayEncode:"endEncoding"]) return;
  if (groups_ != 0) report_misuse("endEncoding: a debug group is open; call popDebugGroup");
  ended_ = YES;
  for (const softmetal::PassSamples& each : *samples_) [self sample:each.buffer at:each.end];
  SMQueue* const queue = (SMQueue*)[commands_ commandQueue];
  [commands_ record:[=](Run& run) {
    run.done.join(run.pass->known);
    run.done.add(run.pass->id);
    [queue add:run.done];
    run.pass.reset();
    return std::string();
  }];
  [commands_ encoderEnded];
}
- (BOOL)mayEncode:(const char*)call {
  if (ended_) {
    report_misuse(std::string(call) +
                  ": the command encoder has ended: nothing can be encoded after endEncoding");
  } else if (softmetal::is_captured([commands_ commandQueue])) {
    softmetal::capture(self, call);
  }
  return !ended_;
}
- (BOOL)owns:(id)object as:(const char*)what {
  if (object == nil) {
    report_misuse(std::string(what) + " must not be nil");
    return NO;
  }
  if ([object device] != device_) {
    report_misuse(std::string(what) + " belongs to another device");
    return NO;
  }
  return YES;
}
- (void)updateFence:(id<MTLFence>)fence {
  if (![self mayEncode:"updateFence"] || ![self owns:fence as:"updateFence: the fence"]) return;
  SMFence* const f = (SMFence*)fence;
  [commands_ need:f];
  updated_fences_->insert(f);
  const std::shared_ptr<softmetal::FenceState> state = *f->fence_;
  [commands_ updates:state];
  [commands_ record:[=](Run& run) {
    softmetal::update_fence(*state, run);
    return std::string();
  }];
}
- (void)waitForFence:(id<MTLFence>)fence {
  if (![self mayEncode:"waitForFence"] || ![self owns:fence as:"waitForFence: the fence"]) return;
  SMFence* const f = (SMFence*)fence;
  if (updated_fences_->count(f) != 0)
    return report_misuse("waitForFence: the encoder itself has updated the fence");
  [commands_ need:f];
  const std::shared_ptr<softmetal::FenceState> state = *f->fence_;
  [commands_ record:[=](Run& run) -> std::string {
    const std::lock_guard lock(state->mutex);
    if (!state->is_updated) {
      report_misuse("waitForFence: no encoder before has updated the fence");
      return "an encoder waits for a fence that is never updated";
    }
    run.pass->known.join(state->done);
    return {};
  }];
}
- (void)insertDebugSignpost:(NSString*)text {
  (void)text;
  [self mayEncode:"insertDebugSignpost"];
}
- (void)pushDebugGroup:(NSString*)name {
  (void)name;
  if ([self mayEncode:"pushDebugGroup"]) ++groups_;
}
- (void)popDebugGroup {
  if (![self mayEncode:"popDebugGroup"]) return;
  if (groups_ == 0) return report_misuse("popDebugGroup: no debug group is open");
  --groups_;
}
@end
