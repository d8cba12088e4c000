#include "runtime/hal/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace texloom::hal {
namespace {

// A number unique to the calling thread, because the system reuses std::thread::id.
std::uint64_t thread_number() {
  static std::atomic<std::uint64_t> threads{0};
  thread_local const std::uint64_t number = threads++;
  return number;
}

}  // namespace

void Profile::add(ProfileSpan span) {
  const std::scoped_lock lock(mutex_);
  if (spans_.size() == max_spans_) {
    ++dropped_;
  } else {
    spans_.push_back(std::move(span));
  }
}

std::uint32_t Profile::host_track_locked() {
  const auto [place, is_new] =
      host_tracks_.try_emplace(thread_number(), static_cast<std::uint32_t>(tracks_.size()));
  if (is_new) {
    tracks_.push_back(
        {ProfileTrack::Kind::HostThread, fmt::format("thread {}", host_tracks_.size() - 1)});
  }
  return place->second;
}

std::uint32_t Profile::host_track() {
  const std::scoped_lock lock(mutex_);
  return host_track_locked();
}

void Profile::name_host_track(std::string_view name) {
  const std::scoped_lock lock(mutex_);
  tracks_[host_track_locked()].name = name;
}

std::uint32_t Profile::add_device_track(std::string_view device) {
  const std::scoped_lock lock(mutex_);
  const auto queues = std::count_if(tracks_.begin(), tracks_.end(), [](const ProfileTrack& track) {
    return track.kind == ProfileTrack::Kind::DeviceQueue;
  });
  tracks_.push_back({ProfileTrack::Kind::DeviceQueue, fmt::format("{}, queue {}", device, queues)});
  return static_cast<std::uint32_t>(tracks_.size() - 1);
}

std::string Profile::add_queue() {
  const std::scoped_lock lock(mutex_);
  return fmt::format("queue {}", queues_++);
}

ProfileSnapshot Profile::snapshot() const {
  const std::scoped_lock lock(mutex_);
  return {tracks_, spans_};
}

std::size_t Profile::dropped() const {
  const std::scoped_lock lock(mutex_);
  return dropped_;
}

void Profile::clear() {
  const std::scoped_lock lock(mutex_);
  spans_.clear();
  dropped_ = 0;
}

void HostSpan::finish() {
  profile_->add({.name = std::string(name_),
                 .track = profile_->host_track(),
                 .begin = begin_,
                 .end = ProfileClock::now()});
}

namespace {

std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(result), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

// Formats 12345 ns as "12.345", with integers, so that no digit is lost in a long trace.
std::string microseconds(std::chrono::nanoseconds time) {
  const std::int64_t n = time.count();
  return fmt::format("{}{}.{:03}", n < 0 ? "-" : "", std::abs(n / 1000), std::abs(n % 1000));
}

int process_of(const ProfileTrack& track) {
  return track.kind == ProfileTrack::Kind::HostThread ? 1 : 2;
}

std::string metadata(std::string_view what, int process, std::size_t thread,
                     std::string_view name) {
  return fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}}}})", what,
                     process, thread, json_string(name));
}

std::string arguments_of(const ProfileSpan& span) {
  const double seconds = std::chrono::duration<double>(span.end - span.begin).count();
  const double rate = seconds > 0 ? static_cast<double>(span.bytes) / seconds / 1e9 : 0;
  return fmt::format(R"(,"args":{{"queue_wait_us":{},"bytes":{},"gb_per_s":{:.3f}}})",
                     microseconds(span.queue_wait), span.bytes, rate);
}

}  // namespace

std::string chrome_trace(const Profile& profile) {
  const auto [tracks, spans] = profile.snapshot();
  std::string json = R"({"displayTimeUnit":"ns","traceEvents":[)";
  json += "\n" + metadata("process_name", 1, 0, "host");
  json += ",\n" + metadata("process_name", 2, 0, "devices");
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    json += ",\n" + metadata("thread_name", process_of(tracks[i]), i, tracks[i].name);
  }
  ProfileClock::time_point first = ProfileClock::time_point::max();
  for (const ProfileSpan& span : spans) first = std::min(first, span.begin);
  for (const ProfileSpan& span : spans) {
    const ProfileTrack& track = tracks[span.track];
    const bool on_device = track.kind == ProfileTrack::Kind::DeviceQueue;
    fmt::format_to(std::back_inserter(json),
                   R"(,{}{{"ph":"X","name":{},"pid":{},"tid":{},"ts":{},"dur":{}{}}})", "\n",
                   json_string(span.name), process_of(track), span.track,
                   microseconds(span.begin - first), microseconds(span.end - span.begin),
                   on_device ? arguments_of(span) : "");
  }
  return json + "\n]}\n";
}

}  // namespace texloom::hal
