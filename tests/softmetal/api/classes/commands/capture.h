// Captures: MTLCaptureManager writes which calls it has seen. For Objective-C++ sources alone.
#pragma once

#include <string>

#include "tests/softmetal/api/classes/object.h"

namespace softmetal {

// Whether there is a capture of what is given to the queue.
bool is_captured(id<MTLCommandQueue> queue);
// Adds a line to the capture: a call to an object of the queue, or what it does.
void capture(SMObject* object, const std::string& call);

}  // namespace softmetal
