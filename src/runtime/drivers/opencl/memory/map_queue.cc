#include "runtime/drivers/opencl/memory/map_queue.h"

#include "runtime/drivers/opencl/api/error.h"
#include "runtime/drivers/opencl/api/event.h"

namespace texloom::hal::opencl {
namespace {

cl_map_flags map_flags(Access access) {
  switch (access) {
    case Access::Read:
      return CL_MAP_READ;
    case Access::Write:
      return CL_MAP_WRITE_INVALIDATE_REGION;
    case Access::ReadWrite:
      return CL_MAP_READ | CL_MAP_WRITE;
  }
  return 0;
}

}  // namespace

Result<cl_command_queue> MapQueue::queue() {
  const std::lock_guard lock(mutex_);
  if (!queue_) {
    cl_int code = CL_SUCCESS;
    QueueHandle made(context_->shared_api(), context_->api().clCreateCommandQueue(
                                                 context_->get(), context_->device(), 0, &code));
    TL_RETURN_IF_ERROR(check_made(code, made.get(), "clCreateCommandQueue"));
    queue_ = std::move(made);
  }
  return queue_.get();
}

Result<std::byte*> MapQueue::map(cl_mem memory, std::uint64_t offset, std::uint64_t bytes,
                                 Access access) {
  TL_ASSIGN_OR_RETURN(const cl_command_queue queue, this->queue());
  cl_int code = CL_SUCCESS;
  void* mapped = context_->api().clEnqueueMapBuffer(queue, memory, CL_TRUE, map_flags(access),
                                                    offset, bytes, 0, nullptr, nullptr, &code);
  TL_RETURN_IF_ERROR(check_made(code, mapped, "clEnqueueMapBuffer"));
  return static_cast<std::byte*>(mapped);
}

// Waits for a call's command by its event: with Intel's CPU runtime, another queue may not yet see
// the data of a blocking call that has returned. Afterwards the command is not executing, whether
// it failed or not.
Status MapQueue::complete(cl_command_queue queue, cl_int code, cl_event event,
                          std::string_view call) {
  const EventHandle done(context_->shared_api(), event);
  Status status = check_made(code, event, call);
  if (status.ok()) status = wait_for(context_->api(), event);
  if (!status.ok()) context_->api().clFinish(queue);
  return status;
}

Status MapQueue::unmap(cl_mem memory, std::byte* mapped) {
  TL_ASSIGN_OR_RETURN(const cl_command_queue queue, this->queue());
  cl_event event = nullptr;
  const cl_int code =
      context_->api().clEnqueueUnmapMemObject(queue, memory, mapped, 0, nullptr, &event);
  return complete(queue, code, event, "clEnqueueUnmapMemObject");
}

Status MapQueue::read(cl_mem memory, std::uint64_t offset, std::uint64_t bytes, std::byte* to) {
  TL_ASSIGN_OR_RETURN(const cl_command_queue queue, this->queue());
  cl_event event = nullptr;
  const cl_int code = context_->api().clEnqueueReadBuffer(queue, memory, CL_FALSE, offset, bytes,
                                                          to, 0, nullptr, &event);
  return complete(queue, code, event, "clEnqueueReadBuffer");
}

Status MapQueue::write(cl_mem memory, std::uint64_t offset, std::uint64_t bytes,
                       const std::byte* from) {
  TL_ASSIGN_OR_RETURN(const cl_command_queue queue, this->queue());
  cl_event event = nullptr;
  const cl_int code = context_->api().clEnqueueWriteBuffer(queue, memory, CL_FALSE, offset, bytes,
                                                           from, 0, nullptr, &event);
  return complete(queue, code, event, "clEnqueueWriteBuffer");
}

}  // namespace texloom::hal::opencl
