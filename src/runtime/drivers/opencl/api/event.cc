#include "runtime/drivers/opencl/api/event.h"

#include "runtime/drivers/opencl/api/error.h"

namespace texloom::hal::opencl {

Result<cl_int> state_of(const Api& api, cl_event event) {
  cl_int now = CL_COMPLETE;
  const cl_int code =
      api.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof now, &now, nullptr);
  TL_RETURN_IF_ERROR(to_status(code, "clGetEventInfo"));
  return now;
}

Status wait_for(const Api& api, cl_event event) {
  const cl_int waited = api.clWaitForEvents(1, &event);
  TL_ASSIGN_OR_RETURN(const cl_int now, state_of(api, event));
  if (now < CL_COMPLETE) return to_status(now, "running a command buffer");
  return to_status(waited, "clWaitForEvents");
}

}  // namespace texloom::hal::opencl
