#include "runtime/drivers/metal/commands/device_clock.h"

#include <chrono>

namespace texloom::hal::metal {
namespace {

// Exact for intervals of less than 2^53 ticks in either direction.
double from_to(std::uint64_t begin, std::uint64_t end) {
  return static_cast<double>(static_cast<std::int64_t>(end - begin));
}

}  // namespace

DeviceClock::DeviceClock(const ClockMoment& before, const ClockMoment& after)
    : first_(before.device), after_(after) {
  const double ticks = from_to(before.device, after.device);
  if (ticks > 0) nanoseconds_per_tick_ = from_to(before.host, after.host) / ticks;
}

std::optional<ProfileClock::time_point> DeviceClock::time_of(std::uint64_t device) const {
  if (nanoseconds_per_tick_ <= 0) return {};
  const std::chrono::duration<double, std::nano> since(from_to(after_.device, device) *
                                                       nanoseconds_per_tick_);
  return after_.profile + std::chrono::duration_cast<ProfileClock::duration>(since);
}

}  // namespace texloom::hal::metal
