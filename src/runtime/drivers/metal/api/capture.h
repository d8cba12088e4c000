// Captures of what a device is given, which Xcode opens.
#pragma once

#include <cstddef>
#include <string>

#include "support/status.h"

namespace texloom::hal::metal {

// Begins to capture the work of a device, given by its number in Driver::devices(), in a new
// document whose path ends in ".gputrace". Complete is what is submitted, and waited for, before
// stop_capture(). A process has one capture at a time. InvalidArgument for another path, or one
// that is there already; NotFound if there is no such device; Unavailable if the system lets the
// process capture nothing; else Metal's error.
Status start_capture(std::size_t ordinal, const std::string& path);

// Ends the capture that start_capture() has begun.
void stop_capture();

}  // namespace texloom::hal::metal
