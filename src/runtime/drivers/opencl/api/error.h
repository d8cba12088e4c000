// Names OpenCL's error codes and converts them to Status.
#pragma once

#include <string_view>

#include "runtime/drivers/opencl/api/api.h"
#include "support/status.h"

namespace texloom::hal::opencl {

// "CL_INVALID_WORK_GROUP_SIZE"; "an unknown OpenCL error" for a code without a name.
std::string_view error_name(cl_int code);

// "<call>: <error name> (<code>)" with the matching StatusCode; `code` is not CL_SUCCESS.
Status to_error(cl_int code, std::string_view call);
// Ok for CL_SUCCESS, otherwise the error.
inline Status to_status(cl_int code, std::string_view call) {
  return code == CL_SUCCESS ? Status() : to_error(code, call);
}

// Like to_status(), for a call that creates an object or an event: success without the object or
// event is an error too.
Status check_made(cl_int code, const void* made, std::string_view call);

}  // namespace texloom::hal::opencl
