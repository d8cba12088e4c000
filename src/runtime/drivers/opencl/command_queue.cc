#include "runtime/drivers/opencl/command_queue.h"

#include "runtime/drivers/opencl/encoder.h"
#include "runtime/drivers/opencl/error.h"
#include "runtime/drivers/opencl/event.h"

namespace texloom::hal::opencl {

namespace {

class OpenClWork final : public QueueBackend::Work {
 public:
  // The queue outlives it.
  OpenClWork(std::shared_ptr<const Context> context, cl_command_queue queue, Enqueued enqueued,
             std::uint32_t track)
      : context_(std::move(context)),
        queue_(queue),
        enqueued_(std::move(enqueued)),
        track_(track) {}

  bool is_complete() override {
    if (enqueued_.commands.empty()) return true;
    const Result<cl_int> now = state_of(*context_, enqueued_.commands.back().event.get());
    return !now.ok() || *now <= CL_COMPLETE;
  }

  Status wait() override {
    Status status = wait_for(*context_, enqueued_, track_);
    // A wait that failed may have left commands under way, which use the caller's memory.
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
                         std::shared_ptr<TransferKernels> kernels, QueueHandle queue)
    : context_(std::move(context)),
      kernels_(std::move(kernels)),
      queue_(std::move(queue)),
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
      new OpenClQueue(std::move(context), std::move(kernels), std::move(queue)));
}

Result<std::unique_ptr<QueueBackend::Work>> OpenClQueue::start(
    std::span<const CommandRange> commands) {
  Enqueued enqueued;
  const Status status = encode_and_flush(commands, enqueued);
  if (!status.ok()) {
    // What was enqueued before the failing call may use memory of the command buffers'.
    context_->api().clFinish(queue_.get());
    return status;
  }
  return std::unique_ptr<Work>(
      std::make_unique<OpenClWork>(context_, queue_.get(), std::move(enqueued), track_));
}

Status OpenClQueue::encode_and_flush(std::span<const CommandRange> commands, Enqueued& enqueued) {
  Encoder encoder(*context_, queue_.get(), *kernels_, scratch_);
  TL_RETURN_IF_ERROR(encoder.encode(commands, enqueued));
  return to_status(context_->api().clFlush(queue_.get()), "clFlush");
}

}  // namespace texloom::hal::opencl
