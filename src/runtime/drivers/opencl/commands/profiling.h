// Adds the device's own timings of commands to a profile.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "runtime/drivers/opencl/api/handle.h"
#include "runtime/drivers/opencl/platform/context.h"
#include "runtime/hal/profile.h"

namespace texloom::hal::opencl {

// A command that was submitted to a queue.
struct EnqueuedCommand {
  SharedEvent event = {};  // of the last call
  // With a profile:
  EventHandle first = {};  // of the first call, if the command consists of several
  std::string name = {};
  std::uint64_t bytes = 0;
  ProfileClock::time_point enqueued = {};  // just before the call
};

// Adds the completed commands of one submission to a track of a profile. Times that the device does
// not report are skipped. OpenCL reports times of the device's clock. These times are shifted to
// the host's clock by the least offset with which no command is queued before its call.
void add_spans(const Context& context, std::span<const EnqueuedCommand> commands, Profile& profile,
               std::uint32_t track);

}  // namespace texloom::hal::opencl
