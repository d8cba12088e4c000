#include "runtime/drivers/metal/commands/command_queue.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "runtime/drivers/metal/api/error.h"
#include "runtime/drivers/metal/api/pool.h"
#include "runtime/drivers/metal/commands/semaphore.h"

namespace texloom::hal::metal {

// A command buffer of Metal that was committed.
struct Committed {
  Handle<MetalCommands> commands;
  // With a profile, of its only command:
  std::string name = {};
  std::uint64_t bytes = 0;
  ProfileClock::time_point committed = {};
};

// What a batch needs until it is complete.
struct Submitted {
  std::vector<Committed> commands;
  std::vector<StagingBlock> staging;
  std::vector<StagedReadback> readbacks;
  std::vector<TimelinePoint> signals;  // that the device signals
};

namespace {

// More command buffers than this wait in newCommandBuffer for earlier ones.
constexpr NSUInteger kMostCommandBuffers = 1024;

// Metal's times are seconds of the host's clock since the machine was started, as are those of
// steady_clock on Apple's systems.
ProfileClock::time_point time_of(CFTimeInterval seconds) {
  return ProfileClock::time_point(
      std::chrono::duration_cast<ProfileClock::duration>(std::chrono::duration<double>(seconds)));
}

void add_span(const Committed& each, Profile& profile, std::uint32_t track) {
  if (each.name.empty()) return;
  const auto begin = std::max(time_of(objc(each.commands).GPUStartTime), each.committed);
  profile.add({.name = each.name,
               .track = track,
               .begin = begin,
               .end = std::max(time_of(objc(each.commands).GPUEndTime), begin),
               .queue_wait = begin - each.committed,
               .bytes = each.bytes});
}

class MetalWork final : public QueueBackend::Work {
 public:
  MetalWork(std::shared_ptr<const Context> context, std::shared_ptr<Staging> staging,
            Submitted submitted, std::uint32_t track)
      : context_(std::move(context)),
        staging_(std::move(staging)),
        submitted_(std::move(submitted)),
        track_(track) {}

  bool is_complete() override {
    return objc(submitted_.commands.back().commands).status >= MTLCommandBufferStatusCompleted;
  }

  Status wait() override {
    Status status;
    for (const Committed& each : submitted_.commands) {
      [objc(each.commands) waitUntilCompleted];
      if (status.ok()) status = status_of(objc(each.commands));
      if (Profile* profile = context_->profile()) add_span(each, *profile, track_);
    }
    if (status.ok()) {
      for (const StagedReadback& each : submitted_.readbacks)
        std::copy_n(each.from, each.to.size(), each.to.begin());
    } else {
      // What failed may not have signaled.
      for (const TimelinePoint& point : submitted_.signals)
        as_metal(*point.semaphore).release(point.value);
    }
    staging_->give_back(submitted_.staging);
    return status;
  }

 private:
  std::shared_ptr<const Context> context_;
  std::shared_ptr<Staging> staging_;
  Submitted submitted_;
  std::uint32_t track_;
};

}  // namespace

MetalCommandQueue::MetalCommandQueue(std::shared_ptr<const Context> context,
                                     std::shared_ptr<TransferKernels> kernels,
                                     Handle<MetalQueue> queue, Passes passes)
    : context_(std::move(context)),
      kernels_(std::move(kernels)),
      queue_(std::move(queue)),
      passes_(std::move(passes)),
      encoder_(*context_, queue_.get(), *kernels_, passes_),
      staging_(std::make_shared<Staging>(*context_)) {
  if (Profile* profile = context_->profile())
    track_ = profile->add_device_track(context_->info()->name);
}

Result<std::unique_ptr<QueueBackend>> MetalCommandQueue::create(
    std::shared_ptr<const Context> context, std::shared_ptr<TransferKernels> kernels) {
  @autoreleasepool {
    Handle<MetalQueue> queue = adopt<MetalQueue>(
        [objc(context->device()) newCommandQueueWithMaxCommandBufferCount:kMostCommandBuffers]);
    if (!queue) return to_error(nil, "newCommandQueueWithMaxCommandBufferCount");
    TL_ASSIGN_OR_RETURN(Passes passes, Passes::create(*context, queue.get()));
    return std::unique_ptr<QueueBackend>(new MetalCommandQueue(
        std::move(context), std::move(kernels), std::move(queue), std::move(passes)));
  }
}

std::unique_ptr<QueueBackend::Scope> MetalCommandQueue::enter() { return enter_pool(); }

Result<std::unique_ptr<QueueBackend::Work>> MetalCommandQueue::start(const Batch& batch) {
  Submitted submitted;
  StagingRanges staging(*staging_);
  Status status = passes_.begin();
  if (status.ok()) status = encode_commands(batch, staging, submitted);
  if (status.ok()) status = passes_.end();
  if (!status.ok()) {
    passes_.drop();
    // With a profile, commands before the failing one have been committed.
    for (const Committed& each : submitted.commands) [objc(each.commands) waitUntilCompleted];
    return status;
  }
  signal_natively(batch.signals, submitted);
  submitted.commands.push_back({.commands = passes_.commit()});
  submitted.staging = staging.release();
  return std::unique_ptr<Work>(
      std::make_unique<MetalWork>(context_, staging_, std::move(submitted), track_));
}

Status MetalCommandQueue::encode_commands(const Batch& batch, StagingRanges& staging,
                                          Submitted& submitted) {
  wait_natively(batch.waits);
  for (const CommandRange& range : batch.ranges) {
    passes_.barrier();  // command buffers run one after another
    TL_RETURN_IF_ERROR(
        context_->profile() == nullptr
            ? encoder_.encode(range, range.begin(), range.end(), staging, submitted.readbacks)
            : encode_measured(range, staging, submitted));
  }
  return {};
}

// Metal measures command buffers, so each command gets one.
Status MetalCommandQueue::encode_measured(const CommandRange& range, StagingRanges& staging,
                                          Submitted& submitted) {
  for (auto first = range.begin(); first != range.end();) {
    const auto next = skip_joined(first, range.end());
    TL_RETURN_IF_ERROR(encoder_.encode(range, first, next, staging, submitted.readbacks));
    if (!std::holds_alternative<BarrierSegment>(*first)) {
      Committed committed;
      committed.name = label_of(*first);
      for (auto each = first; each != next; ++each)
        committed.bytes += bytes_of(*each, range.table());
      TL_RETURN_IF_ERROR(passes_.end());
      committed.committed = ProfileClock::now();
      committed.commands = passes_.commit();
      submitted.commands.push_back(std::move(committed));
      TL_RETURN_IF_ERROR(passes_.begin());
    }
    first = next;
  }
  return {};
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
