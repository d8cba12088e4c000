// Converts times of a device's clock to times of the clock of profiles.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/hal/profile.h"

namespace texloom::hal::metal {

// One moment on three clocks.
struct ClockMoment {
  ProfileClock::time_point profile = {};
  std::uint64_t host = 0;    // nanoseconds of Metal's host clock
  std::uint64_t device = 0;  // ticks of the device's clock; Metal does not report their length
};

// A linear map through two moments: before work was committed, and after it was complete. Its slope
// comes from Metal, which reads the clocks of host and device at once.
class DeviceClock {
 public:
  DeviceClock(const ClockMoment& before, const ClockMoment& after);

  // The device's ticks at the first moment.
  std::uint64_t first() const { return first_; }
  // Nullopt if the device's clock stands still.
  std::optional<ProfileClock::time_point> time_of(std::uint64_t device) const;

 private:
  std::uint64_t first_;
  ClockMoment after_;
  double nanoseconds_per_tick_ = 0;
};

}  // namespace texloom::hal::metal
