#include "runtime/drivers/opencl/command_queue.h"

#include "runtime/drivers/opencl/encoder.h"
#include "runtime/drivers/opencl/error.h"
#include "runtime/drivers/opencl/event.h"

namespace texloom::hal::opencl {

namespace {

class OpenClWork final : public QueueBackend::Work {
 public:
  OpenClWork(std::shared_ptr<const Context> context, Enqueued enqueued)
      : context_(std::move(context)), enqueued_(std::move(enqueued)) {}

  bool is_complete() override {
    if (!enqueued_.done) return true;
    const Result<cl_int> now = state_of(*context_, enqueued_.done.get());
    return !now.ok() || *now <= CL_COMPLETE;
  }

  Status wait() override {
    return enqueued_.done ? wait_for(*context_, enqueued_.done.get()) : Status();
  }

 private:
  std::shared_ptr<const Context> context_;
  Enqueued enqueued_;
};

}  // namespace

Result<std::unique_ptr<QueueBackend>> OpenClQueue::create(std::shared_ptr<const Context> context) {
  cl_int code = CL_SUCCESS;
  QueueHandle queue(context->shared_api(), context->api().clCreateCommandQueue(
                                               context->get(), context->device(), 0, &code));
  TL_RETURN_IF_ERROR(to_status(code, "clCreateCommandQueue"));
  return std::unique_ptr<QueueBackend>(new OpenClQueue(std::move(context), std::move(queue)));
}

Result<std::unique_ptr<QueueBackend::Work>> OpenClQueue::start(
    std::span<const SubmittedCommands> commands) {
  Enqueued enqueued;
  const Status status = encode_and_flush(commands, enqueued);
  if (!status.ok()) {
    // What was enqueued before the failing call may use memory of the command buffers'.
    context_->api().clFinish(queue_.get());
    return status;
  }
  return std::unique_ptr<Work>(std::make_unique<OpenClWork>(context_, std::move(enqueued)));
}

Status OpenClQueue::encode_and_flush(std::span<const SubmittedCommands> commands,
                                     Enqueued& enqueued) {
  Encoder encoder(*context_, queue_.get(), transfer_kernels_);
  TL_RETURN_IF_ERROR(encoder.encode(commands, enqueued));
  return to_status(context_->api().clFlush(queue_.get()), "clFlush");
}

}  // namespace texloom::hal::opencl
