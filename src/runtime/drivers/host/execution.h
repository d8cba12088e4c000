// Executes the commands of a submission.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "runtime/drivers/host/workers.h"
#include "runtime/hal/profile.h"
#include "runtime/hal/segment.h"
#include "support/status.h"

namespace texloom::hal::host {

// The commands of a range, in order. Used by one thread at a time.
class Execution {
 public:
  // Spans of commands are added to `track` of the profile, unless the profile is null.
  Execution(const CommandRange& commands, Workers& workers, Profile* profile, std::uint32_t track);
  ~Execution();
  Execution(Execution&&) noexcept;

  // Runs the remaining commands and returns when they are complete; after an error no further
  // command is started. `scratch` belongs to the calling thread.
  Status run(std::span<std::byte> scratch);
  // The same, but stops between commands when the deadline is over, or before a command that may
  // take long. Returns whether all commands are complete.
  Result<bool> run_until(ProfileClock::time_point deadline, std::span<std::byte> scratch);

 private:
  class Runner;
  bool may_run_while_waiting(const Segment& segment) const;
  Status step(std::span<std::byte> scratch);

  std::unique_ptr<Runner> runner_;
  SegmentList::Iterator next_, end_;
  Profile* profile_;
  std::uint32_t track_;
  ProfileClock::time_point given_;
};

}  // namespace texloom::hal::host
