#include "runtime/drivers/metal/commands/work.h"

#include <fmt/format.h>
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

// The time by which the clock of profiles is ahead of Metal's clock. On Apple's systems both clocks
// start when the machine starts, but Metal's clock stops while the machine sleeps. On other systems
// Metal's clock is the clock of profiles.
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
  const auto ticks = samples.ticks(clock.first());
  if (!ticks) return {};
  const auto begin = clock.time_of(ticks->first), end = clock.time_of(ticks->second);
  if (!begin || !end) return {};
  return Interval{*begin, *end};
}

// The times of the commands in a command buffer; empty unless each command has samples.
std::vector<Interval> sampled_times(const Committed& committed, const DeviceClock& clock) {
  std::vector<Interval> times;
  for (const MeasuredCommand& command : committed.measured) {
    const auto time = command.samples ? time_of(command.samples, clock) : std::nullopt;
    if (!time) return {};
    times.push_back(*time);
  }
  return times;
}

// Joins commands of which only the total time is known into one entry.
MeasuredCommand joined(const std::vector<MeasuredCommand>& commands) {
  if (commands.size() == 1) return commands.front();
  MeasuredCommand all{.name = fmt::format("{} commands, not sampled", commands.size())};
  for (const MeasuredCommand& each : commands) all.bytes += each.bytes;
  return all;
}

ProfileSpan span_of(const MeasuredCommand& command, std::uint32_t track,
                    ProfileClock::time_point committed, const Interval& time) {
  const auto begin = std::max(time.begin, committed);
  return {.name = command.name,
          .track = track,
          .begin = begin,
          .end = std::max(time.end, begin),
          .queue_wait = begin - committed,
          .bytes = command.bytes};
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
  }
  for (const TimelinePoint& point : submitted_.signals)
    as_metal(*point.semaphore).release(point.value);
  submitted_.runs.clear();
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
    if (each.measured.empty()) continue;
    const std::vector<Interval> times = sampled_times(each, clock);
    for (std::size_t i = 0; i < times.size(); ++i)
      profile.add(span_of(each.measured[i], track_, each.time, times[i]));
    if (!times.empty()) continue;
    if (each.measured.front().samples && is_complete) memory_->samples.give_up();
    const Interval time = time_of(each.commands.get(), asleep);
    profile.add(span_of(joined(each.measured), track_, each.time, time));
  }
}

}  // namespace texloom::hal::metal
