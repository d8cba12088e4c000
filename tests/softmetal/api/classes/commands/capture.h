// Captures: MTLCaptureManager writes the list of calls. For Objective-C++ sources only.
#pragma once

#include <string>

#include "tests/softmetal/api/classes/object.h"

namespace softmetal {

// Returns whether a capture includes the queue.
bool is_captured(id<MTLCommandQueue> queue);
// Adds a line to the capture: a call to an object of the queue, or the call's effect.
void capture(SMObject* object, const std::string& call);

}  // namespace softmetal
