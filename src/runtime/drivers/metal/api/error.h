// Converts Metal's errors to Status. For Objective-C++ sources alone.
#pragma once

#include <string_view>

#include "runtime/drivers/metal/api/objects.h"
#include "support/status.h"

namespace texloom::hal::metal {

// "<call>: <the error's own text> (<its domain> <its code>)", with the StatusCode that fits the
// error; `error` may be nil, when a call failed without one.
Status to_error(NSError* error, std::string_view call);

// Success unless the command buffer, which is complete, ended in an error.
Status status_of(id<MTLCommandBuffer> commands);

}  // namespace texloom::hal::metal
