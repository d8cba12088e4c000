#include "runtime/drivers/opencl/command_queue.h"

#include <vector>

#include "runtime/drivers/opencl/encoder.h"
#include "runtime/drivers/opencl/error.h"

namespace texloom::hal::opencl {

namespace {

class OpenClWork final : public QueueBackend::Work {
 public:
  OpenClWork(std::shared_ptr<const Context> context, EventHandle done)
      : context_(std::move(context)), done_(std::move(done)) {}

  bool is_complete() override {
    if (!done_) return true;
    const Result<cl_int> now = state();
    return !now.ok() || *now <= CL_COMPLETE;
  }

  Status wait() override {
    if (!done_) return {};
    const cl_event event = done_.get();
    const cl_int waited = context_->api().clWaitForEvents(1, &event);
    TL_ASSIGN_OR_RETURN(const cl_int now, state());
    if (now < CL_COMPLETE) return to_status(now, "running a command buffer");
    return to_status(waited, "clWaitForEvents");
  }

 private:
  // Of the last command; a negative one is the error that ended it.
  Result<cl_int> state() const {
    cl_int now = CL_COMPLETE;
    const cl_int code = context_->api().clGetEventInfo(
        done_.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof now, &now, nullptr);
    TL_RETURN_IF_ERROR(to_status(code, "clGetEventInfo"));
    return now;
  }

  std::shared_ptr<const Context> context_;
  EventHandle done_;
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
    std::span<const std::shared_ptr<const CommandBuffer>> commands) {
  EventHandle done;
  const Status status = encode_and_flush(commands, done);
  if (!status.ok()) {
    // What was enqueued before the failing call may use memory of the command buffers'.
    context_->api().clFinish(queue_.get());
    return status;
  }
  return std::unique_ptr<Work>(std::make_unique<OpenClWork>(context_, std::move(done)));
}

Status OpenClQueue::encode_and_flush(std::span<const std::shared_ptr<const CommandBuffer>> commands,
                                     EventHandle& done) {
  std::vector<const Segment*> segments;
  for (const std::shared_ptr<const CommandBuffer>& each : commands) {
    for (const Segment& segment : each->segments()) segments.push_back(&segment);
  }
  if (segments.empty()) return {};
  Encoder encoder(*context_, queue_.get());
  for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
    TL_RETURN_IF_ERROR(encoder.encode(*segments[i], nullptr));
  }
  cl_event event = nullptr;
  TL_RETURN_IF_ERROR(encoder.encode(*segments.back(), &event));
  done = EventHandle(context_->shared_api(), event);
  return to_status(context_->api().clFlush(queue_.get()), "clFlush");
}

}  // namespace texloom::hal::opencl
