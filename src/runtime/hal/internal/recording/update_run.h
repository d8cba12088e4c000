// Decides which adjacent updates a driver can join into one write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

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

// Moves past the segments that a driver encodes as one command, and returns their number: a small
// update with the updates that continue it, or one other segment.
template <typename Iterator, typename Sentinel>
std::size_t skip_joined(Iterator& next, const Sentinel& end) {
  const auto* first = std::get_if<UpdateSegment>(&*next);
  ++next;
  if (first == nullptr || first->data.size() > kLargestJoinedUpdate) return 1;
  std::uint64_t bytes = first->data.size();
  std::size_t count = 1;
  for (; next != end; ++next, ++count) {
    const auto* update = std::get_if<UpdateSegment>(&*next);
    if (update == nullptr || !continues(first->target, bytes, *update)) break;
    bytes += update->data.size();
  }
  return count;
}

}  // namespace texloom::hal
