#include "runtime/drivers/metal/commands/passes.h"

#include <utility>

#include "runtime/drivers/metal/api/error.h"
#include "runtime/drivers/metal/memory/memory.h"

namespace texloom::hal::metal {
namespace {

// A barrier with more resources than this costs as much as a barrier for all memory.
constexpr std::size_t kMostResources = 16;

MTLBarrierScope scope_of(BarrierScope scope) {
  MTLBarrierScope made = 0;
  if ((scope | BarrierScope::Buffers) == scope) made |= MTLBarrierScopeBuffers;
  if ((scope | BarrierScope::Textures) == scope) made |= MTLBarrierScopeTextures;
  return made;
}

// Lets the encoder take a sample at its end, and at its beginning if it is the first encoder of the
// command. The last encoder overwrites the samples of the earlier ends.
template <typename PassDescriptor>
void set_samples(PassDescriptor* descriptor, const SamplePair& samples, bool has_begin) {
  auto* const attachment = [descriptor.sampleBufferAttachments objectAtIndexedSubscript:0];
  attachment.sampleBuffer = objc(samples.buffer);
  attachment.startOfEncoderSampleIndex = has_begin ? MTLCounterDontSample : samples.begin;
  attachment.endOfEncoderSampleIndex = samples.begin + 1;
}

template <typename Object>
void sample(Object* encoder, const SamplePair& samples, std::uint32_t index) {
  [objc(encoder) sampleCountersInBuffer:objc(samples.buffer) atSampleIndex:index withBarrier:YES];
}

}  // namespace

Result<Passes> Passes::create(const Context& context, MetalQueue* queue) {
  Passes passes;
  passes.context_ = &context;
  passes.queue_ = queue;
  passes.fence_ = adopt<MetalFence>([objc(context.device()) newFence]);
  if (!passes.fence_) return to_error(nil, "newFence");
  passes.event_ = adopt<MetalEvent>([objc(context.device()) newEvent]);
  if (!passes.event_) return to_error(nil, "newEvent");
  return passes;
}

Status Passes::begin() {
  commands_ = share<MetalCommands>([objc(queue_) commandBufferWithUnretainedReferences]);
  return commands_ ? Status() : to_error(nil, "commandBufferWithUnretainedReferences");
}

// The next command buffer waits only for the fence, so an encoder updates it after all commands of
// earlier encoders.
Status Passes::end() {
  if (is_lent_) TL_RETURN_IF_ERROR(blit().status());
  end_encoder();
  has_barrier_ = false;  // the fence orders later commands
  return {};
}

Handle<MetalCommands> Passes::commit() {
  [objc(commands_) commit];
  fence_is_updated_ = fence_is_updated_ || fence_is_updated_here_;
  fence_is_updated_here_ = false;
  return std::move(commands_);
}

void Passes::drop() {
  end_encoder();
  is_lent_ = false;
  has_barrier_ = false;
  samples_ = {};
  fence_is_updated_here_ = false;
  commands_ = {};
}

void Passes::end_encoder() {
  if (compute_) {
    [objc(compute_) updateFence:objc(fence_)];
    [objc(compute_) endEncoding];
  } else if (blit_) {
    [objc(blit_) updateFence:objc(fence_)];
    [objc(blit_) endEncoding];
  } else {
    return;
  }
  compute_ = {};
  blit_ = {};
  fence_is_updated_here_ = true;
}

Status Passes::begin_compute() {
  if (samples_ && sampling_point_ == SamplingPoint::Encoders) {
    MTLComputePassDescriptor* const descriptor = [MTLComputePassDescriptor computePassDescriptor];
    descriptor.dispatchType = MTLDispatchTypeConcurrent;
    set_samples(descriptor, samples_, std::exchange(has_begin_, true));
    compute_ =
        share<MetalCompute>([objc(commands_) computeCommandEncoderWithDescriptor:descriptor]);
    if (!compute_) return to_error(nil, "computeCommandEncoderWithDescriptor");
  } else {
    compute_ = share<MetalCompute>(
        [objc(commands_) computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent]);
    if (!compute_) return to_error(nil, "computeCommandEncoderWithDispatchType");
  }
  return {};
}

Status Passes::begin_blit() {
  if (samples_ && sampling_point_ == SamplingPoint::Encoders) {
    MTLBlitPassDescriptor* const descriptor = [MTLBlitPassDescriptor blitPassDescriptor];
    set_samples(descriptor, samples_, std::exchange(has_begin_, true));
    blit_ = share<MetalBlit>([objc(commands_) blitCommandEncoderWithDescriptor:descriptor]);
    if (!blit_) return to_error(nil, "blitCommandEncoderWithDescriptor");
  } else {
    blit_ = share<MetalBlit>([objc(commands_) blitCommandEncoder]);
    if (!blit_) return to_error(nil, "blitCommandEncoder");
  }
  return {};
}

Result<MetalCompute*> Passes::compute() {
  end_loan();
  if (compute_) {
    encode_barrier();
  } else {
    end_encoder();
    TL_RETURN_IF_ERROR(begin_compute());
    if (fence_is_updated_ || fence_is_updated_here_) [objc(compute_) waitForFence:objc(fence_)];
    arguments_.begin(compute_.get());
    has_barrier_ = false;
  }
  sample_begin(compute_.get());
  return compute_.get();
}

Result<MetalBlit*> Passes::blit() {
  end_loan();
  if (!blit_ || has_barrier_) {
    end_encoder();
    TL_RETURN_IF_ERROR(begin_blit());
    if (fence_is_updated_ || fence_is_updated_here_) [objc(blit_) waitForFence:objc(fence_)];
    has_barrier_ = false;
  }
  sample_begin(blit_.get());
  return blit_.get();
}

void Passes::begin_sampled(const SamplePair& samples, SamplingPoint point) {
  samples_ = samples;
  sampling_point_ = point;
  has_begin_ = false;
}

// The barrier lets earlier commands of a concurrent encoder end before the time is taken.
template <typename Object>
void Passes::sample_begin(Object* encoder) {
  if (!samples_ || sampling_point_ != SamplingPoint::Commands || has_begin_) return;
  sample(encoder, samples_, samples_.begin);
  has_begin_ = true;
}

void Passes::end_sampled() {
  if (!samples_) return;
  if (sampling_point_ == SamplingPoint::Encoders)
    end_encoder();
  else if (compute_)
    sample(compute_.get(), samples_, samples_.begin + 1);
  else
    sample(blit_.get(), samples_, samples_.begin + 1);
  samples_ = {};
}

// All commands before the event's signal are complete when the event is signaled, and no command
// after the wait starts before the signal.
void Passes::fence_off() {
  [objc(commands_) encodeSignalEvent:objc(event_) value:++event_value_];
  [objc(commands_) encodeWaitForEvent:objc(event_) value:event_value_];
}

MetalCommands* Passes::lend_commands() {
  end_loan();
  end_encoder();
  fence_off();
  is_lent_ = true;
  return commands_.get();
}

void Passes::end_loan() {
  if (is_lent_) fence_off();
  is_lent_ = false;
}

void Passes::barrier() {
  has_barrier_ = true;
  barrier_scope_ = BarrierScope::All;
}

void Passes::barrier(const BarrierSegment& segment, std::span<const Binding> table) {
  if (!has_barrier_) {
    barrier_scope_ = BarrierScope::None;
    barrier_resources_.clear();
  }
  has_barrier_ = true;
  if (!compute_) return;  // the fence orders later commands
  if (segment.resources.empty() ||
      barrier_resources_.size() + segment.resources.size() > kMostResources) {
    barrier_scope_ = barrier_scope_ | segment.memory;
    return;
  }
  for (const BarrierResource& resource : segment.resources) add(resource, table);
}

// If textures are views over a buffer, kernels reach its memory by several resources, so the
// barrier orders all memory.
void Passes::add(const BarrierResource& resource, std::span<const Binding> table) {
  const BoundMemory memory = resolve(resource.memory, table);
  if (const auto* buffer = std::get_if<BoundBuffer>(&memory)) {
    const MetalBuffer& root = as_metal(*buffer->buffer);
    if (root.has_views())
      barrier_scope_ = BarrierScope::All;
    else
      barrier_resources_.push_back(root.get());
    return;
  }
  const Texture& texture = *std::get<BoundTexture>(memory).texture;
  if (texture.backing() != nullptr)
    barrier_scope_ = BarrierScope::All;
  else
    barrier_resources_.push_back(as_metal(texture).get());
}

void Passes::encode_barrier() {
  if (!has_barrier_) return;
  has_barrier_ = false;
  if (barrier_scope_ != BarrierScope::All && !barrier_resources_.empty()) {
    auto* const resources = reinterpret_cast<id<MTLResource>*>(barrier_resources_.data());
    [objc(compute_) memoryBarrierWithResources:resources count:barrier_resources_.size()];
  }
  if (barrier_scope_ != BarrierScope::None)
    [objc(compute_) memoryBarrierWithScope:scope_of(barrier_scope_)];
}

}  // namespace texloom::hal::metal
