// Adjacent updates that a driver can join to one write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/hal/segment.h"

namespace texloom::hal {

// Larger updates get a write of their own.
inline constexpr std::uint64_t kLargestJoinedUpdate = 4096;
inline constexpr std::uint64_t kLargestUpdateRun = 65536;

// Whether `next` can join the updates of the `bytes` bytes at `start`: it begins where they end,
// and is small.
inline bool continues(const BoundBuffer& start, std::uint64_t bytes, const UpdateSegment& next) {
  return next.target.buffer == start.buffer && next.target.offset == start.offset + bytes &&
         next.data.size() <= kLargestJoinedUpdate && bytes + next.data.size() <= kLargestUpdateRun;
}

}  // namespace texloom::hal
