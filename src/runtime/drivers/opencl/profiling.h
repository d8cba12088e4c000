// The device's own times of what it ran.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "runtime/drivers/opencl/context.h"
#include "runtime/drivers/opencl/handle.h"
#include "runtime/hal/profile.h"

namespace texloom::hal::opencl {

// A command that was given to a queue.
struct EnqueuedCommand {
  EventHandle event = {};  // of the last call
  // Where there is a profile.
  EventHandle first = {};  // of the first call, where several are one command
  std::string name = {};
  std::uint64_t bytes = 0;
  ProfileClock::time_point enqueued = {};  // just before the call
};

// Adds complete commands of one submission to a lane of a profile. What the device does not tell is
// left out. OpenCL's clock is the device's own: it is set by the latest moment at which any of the
// commands can have been enqueued by it.
void add_spans(const Context& context, std::span<const EnqueuedCommand> commands, Profile& profile,
               std::uint32_t track);

}  // namespace texloom::hal::opencl
