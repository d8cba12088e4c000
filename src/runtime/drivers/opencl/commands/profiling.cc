#include "runtime/drivers/opencl/commands/profiling.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

namespace texloom::hal::opencl {
namespace {

using std::chrono::nanoseconds;

// In nanoseconds of the device's clock.
struct Times {
  nanoseconds queued, start, end;
};

std::optional<Times> times_of(const Context& context, cl_event event) {
  const auto time = [&](cl_profiling_info which) -> std::optional<nanoseconds> {
    cl_ulong value = 0;
    const cl_int code =
        context.api().clGetEventProfilingInfo(event, which, sizeof value, &value, nullptr);
    if (code != CL_SUCCESS) return {};
    return nanoseconds(static_cast<std::int64_t>(value));
  };
  const auto queued = time(CL_PROFILING_COMMAND_QUEUED);
  const auto start = time(CL_PROFILING_COMMAND_START);
  const auto end = time(CL_PROFILING_COMMAND_END);
  if (!queued || !start || !end) return {};
  return Times{*queued, *start, std::max(*start, *end)};
}

// The times from the start of the first call to the end of the last.
std::optional<Times> times_of(const Context& context, const EnqueuedCommand& command) {
  const std::optional<Times> last = times_of(context, command.event->get());
  if (!command.first) return last;
  const std::optional<Times> first = times_of(context, command.first.get());
  if (!first || !last) return {};
  return Times{first->queued, first->start, std::max(first->start, last->end)};
}

}  // namespace

void add_spans(const Context& context, std::span<const EnqueuedCommand> commands, Profile& profile,
               std::uint32_t track) {
  std::vector<std::optional<Times>> times;
  // The host's clock minus the device's.
  std::optional<nanoseconds> offset;
  for (const EnqueuedCommand& command : commands) {
    times.push_back(times_of(context, command));
    if (!times.back()) continue;
    const nanoseconds least = command.enqueued.time_since_epoch() - times.back()->queued;
    offset = std::max(offset.value_or(least), least);
  }
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (!times[i]) continue;
    profile.add({.name = commands[i].name,
                 .track = track,
                 .begin = ProfileClock::time_point(times[i]->start + *offset),
                 .end = ProfileClock::time_point(times[i]->end + *offset),
                 .queue_wait = std::max(times[i]->start - times[i]->queued, nanoseconds(0)),
                 .bytes = commands[i].bytes});
  }
}

}  // namespace texloom::hal::opencl
