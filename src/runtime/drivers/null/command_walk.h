// Walks over command buffers for the null driver.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/hal/segment.h"

namespace texloom::hal::null {

// Counts the commands that a device would have received.
struct Statistics {
  std::int64_t resident = 0;            // objects kept resident now
  std::uint64_t native_waits = 0;       // points that were left to the device
  std::uint64_t scopes = 0;             // entered by threads to call the driver
  std::uint64_t ranges = 0;             // command buffers, or their parts between host calls
  std::uint64_t dispatches = 0;         // including indirect ones
  std::uint64_t transfers = 0;          // fills, copies, readbacks
  std::uint64_t native = 0;             // native commands; their functions are not called
  std::uint64_t recorded_updates = 0;   // updates before joining
  std::uint64_t writes = 0;             // updates that remain after joining neighbors
  std::uint64_t recorded_barriers = 0;  // barriers before any is left out
  std::uint64_t barriers = 0;           // barriers that remain: those with work on both sides
  std::uint64_t barrier_resources = 0;  // resources listed by the remaining barriers

  Statistics& operator+=(const Statistics& other);
};

// Walks over commands like a driver that encodes them, and counts them.
Statistics walk(std::span<const CommandRange> commands);

}  // namespace texloom::hal::null
