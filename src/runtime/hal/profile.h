// Records what ran when, on the host and on devices, for traces and tables of kernels.
//
// Devices receive a Profile when they are opened (DeviceOptions::profile) and add spans to it.
// Without one nothing is measured, and the only cost is a null check.
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

// A track of a trace: a host thread or a device queue.
struct ProfileTrack {
  enum class Kind : std::uint8_t { HostThread, DeviceQueue };
  Kind kind = Kind::HostThread;
  std::string name;  // "thread 0", "PoCL …, queue 0"
};

// An interval of time spent on one thing. Spans of a device track do not overlap unless the device
// runs commands concurrently; spans of a thread are nested.
struct ProfileSpan {
  std::string name;         // of the kernel, or of the command: "matmul", "copy_buffer"
  std::uint32_t track = 0;  // index in ProfileSnapshot::tracks
  ProfileClock::time_point begin = {}, end = {};
  // For commands of a device only.
  std::chrono::nanoseconds queue_wait{0};  // from submission to the API until `begin`
  std::uint64_t bytes = 0;  // of the command's arguments, or of the data that it moves
};

// The contents of a profile at one moment, with the tracks of all spans.
struct ProfileSnapshot {
  std::vector<ProfileTrack> tracks;
  // In the order in which they were added; device spans are added when their submission completes.
  std::vector<ProfileSpan> spans;
};

// Thread safe. Spans beyond `max_spans` are counted, not kept.
class Profile {
 public:
  explicit Profile(std::size_t max_spans = std::size_t{1} << 20) : max_spans_(max_spans) {}

  void add(ProfileSpan span);

  // The track of the calling thread, created at its first call.
  std::uint32_t host_track();
  // Names the calling thread's track after the purpose of the thread.
  void name_host_track(std::string_view name);
  // Adds a track for a queue of a device: "<device>, queue <number>", numbered from 0.
  std::uint32_t add_device_track(std::string_view device);
  // Returns the name of the next queue, for naming its threads: "queue <number>", numbered from 0.
  std::string add_queue();

  ProfileSnapshot snapshot() const;
  std::size_t dropped() const;  // spans that were not kept
  void clear();                 // removes the spans but keeps the tracks

 private:
  std::uint32_t host_track_locked();

  const std::size_t max_spans_;
  mutable std::mutex mutex_;  // guards all members below
  std::vector<ProfileTrack> tracks_;
  std::map<std::uint64_t, std::uint32_t> host_tracks_;  // by thread number
  std::vector<ProfileSpan> spans_;
  std::size_t dropped_ = 0;
  std::uint32_t queues_ = 0;
};

// A span of the calling thread, from construction to destruction. Does nothing without a profile.
class HostSpan {
 public:
  // `profile` and `name` must outlive the span.
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
