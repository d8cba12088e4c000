#include "runtime/drivers/metal/commands/command_queue.h"

#include <utility>
#include <vector>

#include "runtime/drivers/metal/api/error.h"
#include "runtime/drivers/metal/api/pool.h"
#include "runtime/drivers/metal/commands/semaphore.h"
#include "runtime/hal/internal/recording/update_run.h"

namespace texloom::hal::metal {

namespace {

// With this many incomplete command buffers, newCommandBuffer waits for an earlier one.
constexpr NSUInteger kMostCommandBuffers = 1024;

}  // namespace

MetalCommandQueue::MetalCommandQueue(std::shared_ptr<const Context> context,
                                     std::shared_ptr<TransferKernels> kernels,
                                     Handle<MetalQueue> queue, Passes passes, bool is_shared)
    : context_(std::move(context)),
      kernels_(std::move(kernels)),
      queue_(std::move(queue)),
      is_shared_(is_shared),
      passes_(std::move(passes)),
      encoder_(*context_, queue_.get(), *kernels_, passes_),
      memory_(std::make_shared<QueueMemory>(*context_)) {
  if (Profile* profile = context_->profile())
    track_ = profile->add_device_track(context_->info()->name);
}

Result<std::unique_ptr<QueueBackend>> MetalCommandQueue::create(
    std::shared_ptr<const Context> context, std::shared_ptr<TransferKernels> kernels) {
  @autoreleasepool {
    Handle<MetalQueue> queue = adopt<MetalQueue>(
        [objc(context->device()) newCommandQueueWithMaxCommandBufferCount:kMostCommandBuffers]);
    if (!queue) return to_error(nil, "newCommandQueueWithMaxCommandBufferCount");
    return make(std::move(context), std::move(kernels), std::move(queue), false);
  }
}

Result<std::unique_ptr<QueueBackend>> MetalCommandQueue::share(
    std::shared_ptr<const Context> context, std::shared_ptr<TransferKernels> kernels, void* queue) {
  @autoreleasepool {
    return make(std::move(context), std::move(kernels),
                Handle<MetalQueue>::share(static_cast<MetalQueue*>(queue)), true);
  }
}

Result<std::unique_ptr<QueueBackend>> MetalCommandQueue::make(
    std::shared_ptr<const Context> context, std::shared_ptr<TransferKernels> kernels,
    Handle<MetalQueue> queue, bool is_shared) {
  context->residency_set().add_to(queue.get());
  TL_ASSIGN_OR_RETURN(Passes passes, Passes::create(*context, queue.get()));
  return std::unique_ptr<QueueBackend>(new MetalCommandQueue(
      std::move(context), std::move(kernels), std::move(queue), std::move(passes), is_shared));
}

std::unique_ptr<QueueBackend::Scope> MetalCommandQueue::enter() { return enter_pool(); }

// A batch that is being encoded.
struct MetalCommandQueue::Encoding {
  explicit Encoding(QueueMemory& memory) : kept(memory.staging), samples(memory.samples) {}

  KeptObjects kept;
  SamplePairs samples;
  std::vector<MeasuredCommand> measured;  // of the open command buffer
  Submitted submitted;
};

Result<std::unique_ptr<QueueBackend::Work>> MetalCommandQueue::start(const Batch& batch) {
  Encoding encoding(*memory_);
  Submitted& submitted = encoding.submitted;
  if (memory_->samples.point() != SamplingPoint::None) submitted.before = memory_->samples.now();
  Status status = passes_.begin();
  if (status.ok()) status = encode_commands(batch, encoding);
  if (status.ok()) status = passes_.end();
  if (!status.ok()) {
    passes_.drop();
    // With a profile, commands before the failing one may have been committed.
    for (const Committed& each : submitted.commands) [objc(each.commands) waitUntilCompleted];
    return status;
  }
  signal_natively(batch.signals, submitted);
  commit(encoding);
  submitted.staging = encoding.kept.staging.release();
  submitted.readbacks = std::move(encoding.kept.readbacks);
  submitted.runs = std::move(encoding.kept.runs);
  submitted.samples = encoding.samples.release();
  return std::unique_ptr<Work>(
      std::make_unique<MetalWork>(context_, memory_, std::move(submitted), track_));
}

Status MetalCommandQueue::encode_commands(const Batch& batch, Encoding& encoding) {
  wait_natively(batch.waits);
  for (const CommandRange& range : batch.ranges) {
    passes_.barrier();  // command buffers run one after another
    TL_RETURN_IF_ERROR(context_->profile() == nullptr
                           ? encoder_.encode(range, range.begin(), range.end(), encoding.kept)
                           : encode_measured(range, encoding));
  }
  return {};
}

// Native commands may make encoders of their own, so they are not sampled.
Status MetalCommandQueue::encode_measured(const CommandRange& range, Encoding& encoding) {
  for (auto first = range.begin(); first != range.end();) {
    auto next = first;
    skip_joined(next, range.end());
    const bool is_command = !std::holds_alternative<BarrierSegment>(*first);
    SamplePair samples;
    if (is_command && !std::holds_alternative<NativeSegment>(*first))
      samples = encoding.samples.take();
    const bool is_alone = is_command && !samples;  // the only command in its command buffer
    if (is_alone && !encoding.measured.empty()) TL_RETURN_IF_ERROR(commit_and_begin(encoding));
    passes_.begin_sampled(samples, memory_->samples.point());
    TL_RETURN_IF_ERROR(encoder_.encode(range, first, next, encoding.kept));
    passes_.end_sampled();
    if (is_command) {
      MeasuredCommand& command = encoding.measured.emplace_back();
      command.name = label_of(*first);
      for (auto each = first; each != next; ++each) command.bytes += bytes_of(*each, range.table());
      command.samples = samples;
    }
    if (is_alone) TL_RETURN_IF_ERROR(commit_and_begin(encoding));
    first = next;
  }
  return {};
}

Status MetalCommandQueue::commit_and_begin(Encoding& encoding) {
  TL_RETURN_IF_ERROR(passes_.end());
  commit(encoding);
  return passes_.begin();
}

void MetalCommandQueue::commit(Encoding& encoding) {
  context_->residency_set().update();
  Committed committed;
  committed.measured = std::exchange(encoding.measured, {});
  if (!committed.measured.empty()) committed.time = ProfileClock::now();
  committed.commands = passes_.commit();
  encoding.submitted.commands.push_back(std::move(committed));
}

bool MetalCommandQueue::can_wait(const TimelinePoint& point) const {
  return as_metal(*point.semaphore).event_for(point.value) != nullptr;
}

void MetalCommandQueue::wait_natively(std::span<const TimelinePoint> points) {
  for (const TimelinePoint& point : points) {
    if (MetalSharedEvent* event = as_metal(*point.semaphore).event_for(point.value))
      [objc(passes_.commands()) encodeWaitForEvent:objc(event) value:point.value];
  }
}

void MetalCommandQueue::signal_natively(std::span<const TimelinePoint> points,
                                        Submitted& submitted) {
  for (const TimelinePoint& point : points) {
    if (point.semaphore->device_info() != context_->info().get() ||
        point.semaphore->backend() == nullptr)
      continue;
    MetalSharedEvent* event = as_metal(*point.semaphore).begin_signal(point.value);
    if (event == nullptr) continue;
    [objc(passes_.commands()) encodeSignalEvent:objc(event) value:point.value];
    submitted.signals.push_back(point);
  }
}

}  // namespace texloom::hal::metal
