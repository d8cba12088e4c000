// Records what ran when, on the host and on devices, for traces and tables of kernels.
//
// A Profile is given to devices when they are opened (DeviceOptions::profile) and collects until it
// is asked. Without one nothing is measured, and the only cost is the test of a pointer.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace texloom::hal {

using ProfileClock = std::chrono::steady_clock;

// A lane of a trace: a thread of the host, or a queue of a device.
struct ProfileTrack {
  enum class Kind : std::uint8_t { HostThread, DeviceQueue };
  Kind kind = Kind::HostThread;
  std::string name;  // "thread 0", "PoCL …, queue 0"
};

// Something that took time. Spans of one device track do not overlap unless the device runs
// commands at the same time; those of a thread are nested.
struct ProfileSpan {
  std::string name;         // of the kernel, or of the command: "matmul", "copy_buffer"
  std::uint32_t track = 0;  // place in ProfileSnapshot::tracks
  ProfileClock::time_point begin = {}, end = {};
  // For commands of a device only.
  std::chrono::nanoseconds queue_wait{0};  // from the driver's call to the begin
  std::uint64_t bytes = 0;                 // that its arguments have, or that it moves
};

// The contents of a profile at one moment, with the tracks of all spans.
struct ProfileSnapshot {
  std::vector<ProfileTrack> tracks;
  // In the order in which they were added: spans of devices when their submission is complete.
  std::vector<ProfileSpan> spans;
};

// Thread safe. Spans beyond `max_spans` are counted, not kept.
class Profile {
 public:
  explicit Profile(std::size_t max_spans = std::size_t{1} << 20) : max_spans_(max_spans) {}

  void add(ProfileSpan span);

  // The lane of the calling thread, made at its first call.
  std::uint32_t host_track();
  // Gives that lane a name: what the thread is for.
  void name_host_track(std::string_view name);
  // A new lane for a queue of a device: "<device>, queue <number>", from 0 on.
  std::uint32_t add_device_track(std::string_view device);
  // The name of the next queue, for its threads: "queue <number>", from 0 on.
  std::string add_queue();

  ProfileSnapshot snapshot() const;
  std::size_t dropped() const;  // spans that were not kept
  void clear();                 // forgets the spans; lanes stay

 private:
  std::uint32_t host_track_locked();

  const std::size_t max_spans_;
  mutable std::mutex mutex_;  // of all below
  std::vector<ProfileTrack> tracks_;
  std::map<std::uint64_t, std::uint32_t> host_tracks_;  // by number of the thread
  std::vector<ProfileSpan> spans_;
  std::size_t dropped_ = 0;
  std::uint32_t queues_ = 0;
};

// A span of the calling thread, from construction to destruction. Does nothing without a profile.
class HostSpan {
 public:
  // Both are kept by reference.
  HostSpan(Profile* profile, std::string_view name) : profile_(profile), name_(name) {
    if (profile_ != nullptr) begin_ = ProfileClock::now();
  }
  ~HostSpan() {
    if (profile_ != nullptr) finish();
  }
  HostSpan(const HostSpan&) = delete;
  HostSpan& operator=(const HostSpan&) = delete;

 private:
  void finish();

  Profile* profile_;
  std::string_view name_;
  ProfileClock::time_point begin_;
};

// The JSON of Chrome's trace viewer and of Perfetto ("Trace Event Format"): complete events, times
// in microseconds from the first span, host and devices as two processes.
std::string chrome_trace(const Profile& profile);

}  // namespace texloom::hal
