#include "runtime/drivers/opencl/commands/command_queue.h"

#include "runtime/drivers/opencl/api/error.h"
#include "runtime/drivers/opencl/api/event.h"
#include "runtime/drivers/opencl/commands/encoder.h"
#include "runtime/drivers/opencl/commands/semaphore.h"

namespace texloom::hal::opencl {

namespace {

// A semaphore of this driver's device.
OpenClSemaphore& as_opencl(const Semaphore& semaphore) {
  return static_cast<OpenClSemaphore&>(*semaphore.backend());
}

class OpenClWork final : public QueueBackend::Work {
 public:
  // The queue must outlive this object.
  OpenClWork(std::shared_ptr<const Context> context, cl_command_queue queue, Enqueued enqueued,
             std::uint32_t track)
      : context_(std::move(context)),
        queue_(queue),
        enqueued_(std::move(enqueued)),
        track_(track) {}

  bool is_complete() override {
    if (enqueued_.commands.empty()) return true;
    const Result<cl_int> now = state_of(context_->api(), enqueued_.commands.back().event->get());
    return !now.ok() || *now <= CL_COMPLETE;
  }

  Status wait() override {
    Status status = wait_for(*context_, enqueued_, track_);
    // After a failed wait, commands that use the caller's memory may still execute.
    if (!status.ok()) context_->api().clFinish(queue_);
    return status;
  }

 private:
  std::shared_ptr<const Context> context_;
  cl_command_queue queue_;
  Enqueued enqueued_;
  std::uint32_t track_;
};

}  // namespace

OpenClQueue::OpenClQueue(std::shared_ptr<const Context> context,
                         std::shared_ptr<TransferKernels> kernels, QueueHandle queue,
                         bool is_shared)
    : context_(std::move(context)),
      kernels_(std::move(kernels)),
      queue_(std::move(queue)),
      is_shared_(is_shared),
      scratch_(context_->scratch_bytes()) {
  if (Profile* profile = context_->profile())
    track_ = profile->add_device_track(context_->info()->name);
}

Result<std::unique_ptr<QueueBackend>> OpenClQueue::create(
    std::shared_ptr<const Context> context, std::shared_ptr<TransferKernels> kernels) {
  const cl_command_queue_properties properties =
      context->profile() == nullptr ? 0 : CL_QUEUE_PROFILING_ENABLE;
  cl_int code = CL_SUCCESS;
  QueueHandle queue(
      context->shared_api(),
      context->api().clCreateCommandQueue(context->get(), context->device(), properties, &code));
  TL_RETURN_IF_ERROR(check_made(code, queue.get(), "clCreateCommandQueue"));
  return std::unique_ptr<QueueBackend>(
      new OpenClQueue(std::move(context), std::move(kernels), std::move(queue), false));
}

Result<std::unique_ptr<QueueBackend>> OpenClQueue::share(std::shared_ptr<const Context> context,
                                                         std::shared_ptr<TransferKernels> kernels,
                                                         void* queue) {
  TL_ASSIGN_OR_RETURN(
      QueueHandle handle,
      QueueHandle::retain<&Api::clRetainCommandQueue>(
          context->shared_api(), static_cast<cl_command_queue>(queue), "clRetainCommandQueue"));
  return std::unique_ptr<QueueBackend>(
      new OpenClQueue(std::move(context), std::move(kernels), std::move(handle), true));
}

Result<std::unique_ptr<QueueBackend::Work>> OpenClQueue::start(const Batch& batch) {
  Enqueued enqueued;
  const Status status = encode_and_flush(batch, enqueued);
  if (!status.ok()) {
    // Commands enqueued before the failing call may use memory of the command buffers.
    context_->api().clFinish(queue_.get());
    return status;
  }
  signal_natively(batch.signals, enqueued);
  return std::unique_ptr<Work>(
      std::make_unique<OpenClWork>(context_, queue_.get(), std::move(enqueued), track_));
}

bool OpenClQueue::can_wait(const TimelinePoint& point) const {
  return as_opencl(*point.semaphore).event_for(point.value) != nullptr;
}

Status OpenClQueue::encode_and_flush(const Batch& batch, Enqueued& enqueued) {
  TL_RETURN_IF_ERROR(wait_natively(batch.waits));
  Encoder encoder(*context_, queue_.get(), *kernels_, scratch_);
  TL_RETURN_IF_ERROR(encoder.encode(batch.ranges, enqueued));
  return to_status(context_->api().clFlush(queue_.get()), "clFlush");
}

// Because the queue is in order, commands after the barrier run after the events.
Status OpenClQueue::wait_natively(std::span<const TimelinePoint> points) {
  std::vector<SharedEvent> events;
  std::vector<cl_event> list;
  for (const TimelinePoint& point : points) {
    SharedEvent event = as_opencl(*point.semaphore).event_for(point.value);
    if (event == nullptr) continue;
    list.push_back(event->get());
    events.push_back(std::move(event));
  }
  if (list.empty()) return {};
  return to_status(context_->api().clEnqueueBarrierWithWaitList(
                       queue_.get(), static_cast<cl_uint>(list.size()), list.data(), nullptr),
                   "clEnqueueBarrierWithWaitList");
}

// If nothing was enqueued there is no event, and other queues wait on the host.
void OpenClQueue::signal_natively(std::span<const TimelinePoint> points, const Enqueued& enqueued) {
  if (enqueued.commands.empty()) return;
  for (const TimelinePoint& point : points) {
    if (point.semaphore->device_info() == context_->info().get() &&
        point.semaphore->backend() != nullptr)
      as_opencl(*point.semaphore).add(point.value, enqueued.commands.back().event);
  }
}

}  // namespace texloom::hal::opencl
