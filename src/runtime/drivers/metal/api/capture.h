// Captures the work of a device in files that Xcode opens.
#pragma once

#include <cstddef>
#include <string>

#include "support/status.h"

namespace texloom::hal::metal {

// Finds the errors of start_capture() that can be known before the capture begins. InvalidArgument
// if the path does not end in ".gputrace", already exists, or has no parent folder; NotFound if
// there is no such device; Unavailable if the system does not let the process capture.
Status check_capture(std::size_t ordinal, const std::string& path);

// Begins to capture the work of a device, given by its number in Driver::devices(), in a new
// document. The document is complete for work that is submitted, and waited for, before
// stop_capture(). A process has one capture at a time. The errors of check_capture(), or Metal's.
Status start_capture(std::size_t ordinal, const std::string& path);

// Ends the capture that start_capture() has begun.
void stop_capture();

}  // namespace texloom::hal::metal
