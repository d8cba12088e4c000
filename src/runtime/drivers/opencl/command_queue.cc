#include "runtime/drivers/opencl/command_queue.h"

#include "runtime/drivers/opencl/encoder.h"
#include "runtime/drivers/opencl/error.h"

namespace texloom::hal::opencl {

OpenClQueue::OpenClQueue(std::shared_ptr<const Context> context, QueueHandle queue)
    : Queue(context->info()), context_(std::move(context)), queue_(std::move(queue)) {}

Result<std::shared_ptr<Queue>> OpenClQueue::create(std::shared_ptr<const Context> context) {
  cl_int code = CL_SUCCESS;
  QueueHandle queue(context->shared_api(), context->api().clCreateCommandQueue(
                                               context->get(), context->device(), 0, &code));
  TL_RETURN_IF_ERROR(to_status(code, "clCreateCommandQueue"));
  return std::shared_ptr<Queue>(new OpenClQueue(std::move(context), std::move(queue)));
}

OpenClQueue::~OpenClQueue() { context_->api().clFinish(queue_.get()); }

Status OpenClQueue::submit_checked(std::shared_ptr<const CommandBuffer> commands) {
  const std::scoped_lock lock(mutex_);
  retire_completed();
  EventHandle done;
  const Status status = encode_and_flush(*commands, done);
  if (!status.ok()) {
    // What was enqueued before the failing call may use memory of the command buffer's.
    context_->api().clFinish(queue_.get());
    return status.with_context("submit");
  }
  in_flight_.push_back({std::move(done), std::move(commands)});
  return {};
}

Status OpenClQueue::encode_and_flush(const CommandBuffer& commands, EventHandle& done) {
  Encoder encoder(*context_, queue_.get());
  const std::vector<Segment>& segments = commands.segments();
  for (std::size_t i = 0; i + 1 < segments.size(); ++i)
    TL_RETURN_IF_ERROR(encoder.encode(segments[i], nullptr));
  cl_event event = nullptr;
  TL_RETURN_IF_ERROR(encoder.encode(segments.back(), &event));
  done = EventHandle(context_->shared_api(), event);
  return to_status(context_->api().clFlush(queue_.get()), "clFlush");
}

void OpenClQueue::retire_completed() {
  const Api& api = context_->api();
  while (!in_flight_.empty()) {
    cl_int state = CL_COMPLETE;
    const cl_int code =
        api.clGetEventInfo(in_flight_.front().done.get(), CL_EVENT_COMMAND_EXECUTION_STATUS,
                           sizeof state, &state, nullptr);
    if (code == CL_SUCCESS && state > CL_COMPLETE) return;
    // A negative state is the error that ended the command.
    const Status status = code == CL_SUCCESS ? to_status(state, "running a command buffer")
                                             : to_status(code, "clGetEventInfo");
    if (first_error_.ok()) first_error_ = status;
    in_flight_.pop_front();
  }
}

Status OpenClQueue::wait_idle() {
  // Not under the lock: others may submit while this waits.
  const Status finished = to_status(context_->api().clFinish(queue_.get()), "clFinish");
  const std::scoped_lock lock(mutex_);
  retire_completed();
  const Status earlier = std::exchange(first_error_, Status());
  return earlier.ok() ? finished : earlier;
}

bool OpenClQueue::is_idle() {
  const std::scoped_lock lock(mutex_);
  retire_completed();
  return in_flight_.empty();
}

}  // namespace texloom::hal::opencl
