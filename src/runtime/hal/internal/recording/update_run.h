// Decides which adjacent updates a driver can join into one write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/hal/segment.h"

namespace texloom::hal {

// Larger updates are written separately.
inline constexpr std::uint64_t kLargestJoinedUpdate = 4096;
inline constexpr std::uint64_t kLargestUpdateRun = 65536;

// Whether `next` can join earlier updates of `bytes` bytes at `start`: it begins where they end,
// and is small.
inline bool continues(const BoundBuffer& start, std::uint64_t bytes, const UpdateSegment& next) {
  return next.target.buffer == start.buffer && next.target.offset == start.offset + bytes &&
         next.data.size() <= kLargestJoinedUpdate && bytes + next.data.size() <= kLargestUpdateRun;
}

}  // namespace texloom::hal
