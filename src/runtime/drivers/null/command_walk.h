// The walk over command buffers of the driver that computes nothing.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/hal/command_buffer.h"
#include "support/status.h"

namespace texloom::hal::null {

// What a device would have been given.
struct Statistics {
  std::uint64_t command_buffers = 0;
  std::uint64_t dispatches = 0;         // also indirect ones
  std::uint64_t transfers = 0;          // fills, copies, readbacks
  std::uint64_t recorded_updates = 0;   // as recorded
  std::uint64_t writes = 0;             // what is left of them: neighbours are joined
  std::uint64_t recorded_barriers = 0;  // as recorded
  std::uint64_t barriers = 0;           // what is left of them: those with work on both sides
  std::uint64_t host_calls = 0;

  Statistics& operator+=(const Statistics& other);
};

// Goes over command buffers as a driver would that encodes them, and counts. Makes host calls; the
// error of one ends the walk.
Status walk(std::span<const SubmittedCommands> commands, Statistics& statistics);

}  // namespace texloom::hal::null
