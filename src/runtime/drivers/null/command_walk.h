// The walk over command buffers of the driver that computes nothing.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/hal/segment.h"

namespace texloom::hal::null {

// What a device would have been given.
struct Statistics {
  std::uint64_t ranges = 0;             // command buffers, or what host calls divide them into
  std::uint64_t dispatches = 0;         // also indirect ones
  std::uint64_t transfers = 0;          // fills, copies, readbacks
  std::uint64_t recorded_updates = 0;   // as recorded
  std::uint64_t writes = 0;             // what is left of them: neighbours are joined
  std::uint64_t recorded_barriers = 0;  // as recorded
  std::uint64_t barriers = 0;           // what is left of them: those with work on both sides

  Statistics& operator+=(const Statistics& other);
};

// Goes over commands as a driver would that encodes them, and counts.
Statistics walk(std::span<const CommandRange> commands);

}  // namespace texloom::hal::null
