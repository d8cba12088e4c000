// Waiting for commands that were enqueued.
#pragma once

#include "runtime/drivers/opencl/api/api.h"
#include "support/status.h"

namespace texloom::hal::opencl {

// The execution status of a command; a negative one is the error that ended it.
Result<cl_int> state_of(const Api& api, cl_event event);

// Waits until a command is complete, and returns the error that ended it, if any.
Status wait_for(const Api& api, cl_event event);

}  // namespace texloom::hal::opencl
