#include "runtime/drivers/metal/commands/work.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "runtime/drivers/metal/api/error.h"
#include "runtime/drivers/metal/commands/semaphore.h"

namespace texloom::hal::metal {
namespace {

struct Interval {
  ProfileClock::time_point begin, end;
};

// How far the clock of profiles is ahead of that of Metal's times. On Apple's systems both begin as
// the machine is started, but Metal's stands still while it sleeps. The software Metal has the
// clock of profiles itself.
ProfileClock::duration time_asleep() {
#ifdef __APPLE__
  const std::chrono::nanoseconds awake(::clock_gettime_nsec_np(CLOCK_UPTIME_RAW));
  return ProfileClock::now().time_since_epoch() - awake;
#else
  return {};
#endif
}

ProfileClock::time_point time_of(CFTimeInterval seconds, ProfileClock::duration asleep) {
  const std::chrono::duration<double> awake(seconds);
  return ProfileClock::time_point(std::chrono::duration_cast<ProfileClock::duration>(awake) +
                                  asleep);
}

Interval time_of(MetalCommands* commands, ProfileClock::duration asleep) {
  return {time_of(objc(commands).GPUStartTime, asleep), time_of(objc(commands).GPUEndTime, asleep)};
}

std::optional<Interval> time_of(const SamplePair& samples, const DeviceClock& clock) {
  const auto ticks = samples.ticks();
  if (!ticks) return {};
  const auto begin = clock.time_of(ticks->first), end = clock.time_of(ticks->second);
  if (!begin || !end) return {};
  return Interval{*begin, *end};
}

}  // namespace

bool MetalWork::is_complete() {
  return objc(submitted_.commands.back().commands).status >= MTLCommandBufferStatusCompleted;
}

Status MetalWork::wait() {
  Status status;
  for (const Committed& each : submitted_.commands) {
    [objc(each.commands) waitUntilCompleted];
    if (status.ok()) status = status_of(objc(each.commands));
  }
  if (Profile* profile = context_->profile()) add_spans(*profile, status.ok());
  if (status.ok()) {
    for (const StagedReadback& each : submitted_.readbacks)
      std::copy_n(each.from, each.to.size(), each.to.begin());
  } else {
    // What failed may not have signaled.
    for (const TimelinePoint& point : submitted_.signals)
      as_metal(*point.semaphore).release(point.value);
  }
  memory_->staging.give_back(submitted_.staging);
  memory_->samples.give_back(submitted_.samples);
  return status;
}

void MetalWork::add_spans(Profile& profile, bool is_complete) {
  const bool has_samples = !submitted_.samples.empty();
  const ClockMoment after = has_samples ? memory_->samples.now() : ClockMoment();
  const DeviceClock clock(submitted_.before, after);
  const ProfileClock::duration asleep = time_asleep();
  for (const Committed& each : submitted_.commands) {
    for (const MeasuredCommand& command : each.measured) {
      std::optional<Interval> time;
      if (command.samples) {
        time = time_of(command.samples, clock);
        if (!time && is_complete) memory_->samples.give_up();
      }
      if (!time) time = time_of(each.commands.get(), asleep);
      const auto begin = std::max(time->begin, each.time);
      profile.add({.name = command.name,
                   .track = track_,
                   .begin = begin,
                   .end = std::max(time->end, begin),
                   .queue_wait = begin - each.time,
                   .bytes = command.bytes});
    }
  }
}

}  // namespace texloom::hal::metal
