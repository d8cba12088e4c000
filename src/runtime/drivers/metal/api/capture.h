// Captures of what a device is given, which Xcode opens.
#pragma once

#include <cstddef>
#include <string>

#include "support/status.h"

namespace texloom::hal::metal {

// Whether start_capture() would begin, as far as that is known without beginning. InvalidArgument
// if the path does not end in ".gputrace", is there already, or is in no folder; NotFound if there
// is no such device; Unavailable if the system lets the process capture nothing.
Status check_capture(std::size_t ordinal, const std::string& path);

// Begins to capture the work of a device, given by its number in Driver::devices(), in a new
// document. The document is complete for work that is submitted, and waited for, before
// stop_capture(). A process has one capture at a time. The errors of check_capture(), or Metal's.
Status start_capture(std::size_t ordinal, const std::string& path);

// Ends the capture that start_capture() has begun.
void stop_capture();

}  // namespace texloom::hal::metal
