// The policy for when recorded work is submitted, and how far a caller may run ahead of the device.
#pragma once

#include <cstdint>

namespace texloom::runtime {

// The points at which a run waits for its own launches. Values other than Never serve only to
// compare with runtimes that cannot record custom operators.
enum class Waits : std::uint8_t {
  Never,
  AroundCalls,  // before and after each call of a custom operator
  AfterEach,    // after each launch, too
};

// A submission ends with the launch that reaches one of its limits. Short submissions let the
// device start early; long ones cost the host less. Zero means no limit.
struct CommitPolicy {
  std::uint32_t launches = 4096;
  std::uint64_t bytes = 0;              // memory that the launches' arguments name
  std::uint32_t first_launches = 0;     // limit for a run's first submission, instead of `launches`
  std::uint64_t submissions_ahead = 4;  // the most incomplete ones per run, which then waits
  std::uint64_t backlog = 256;          // the most submissions that a run leaves on the queue
  Waits waits = Waits::Never;           // if not Never, submissions end only at these waits

  // No limits: launches that are recorded together form one submission.
  static CommitPolicy off() { return {.launches = 0, .submissions_ahead = 0}; }
};

}  // namespace texloom::runtime
