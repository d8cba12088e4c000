// Tests the conversion from times of a device's clock to times of the profile's clock.
#include "runtime/drivers/metal/commands/device_clock.h"

#include <gtest/gtest.h>

#include <chrono>

namespace texloom::hal::metal {
namespace {

using std::chrono::nanoseconds;

ClockMoment moment(std::int64_t profile, std::uint64_t host, std::uint64_t device) {
  return {ProfileClock::time_point(nanoseconds(profile)), host, device};
}

std::int64_t time_of(const DeviceClock& clock, std::uint64_t device) {
  return nanoseconds(clock.time_of(device).value().time_since_epoch()).count();
}

// Ticks of 40 ns. The second reading of the profile's clock is 7 ns late: this shifts all times,
// but does not scale them.
TEST(DeviceClock, IsALineThroughTwoMoments) {
  const DeviceClock clock(moment(5'000, 1'000, 100), moment(9'007, 5'000, 200));
  EXPECT_EQ(time_of(clock, 200), 9'007);
  EXPECT_EQ(time_of(clock, 150), 7'007);
  EXPECT_EQ(time_of(clock, 100), 5'007);
  EXPECT_EQ(time_of(clock, 201), 9'047);
}

TEST(DeviceClock, MayWrapAround) {
  const DeviceClock clock(moment(0, 0, ~std::uint64_t{0} - 9), moment(100, 100, 90));
  EXPECT_EQ(time_of(clock, 0), 10);
  EXPECT_EQ(time_of(clock, ~std::uint64_t{0}), 9);
}

TEST(DeviceClock, ThatStandsStillTellsNothing) {
  EXPECT_FALSE(DeviceClock(moment(0, 0, 0), moment(100, 100, 0)).time_of(0).has_value());
  EXPECT_FALSE(DeviceClock(moment(0, 0, 0), moment(100, 0, 100)).time_of(0).has_value());
}

}  // namespace
}  // namespace texloom::hal::metal
