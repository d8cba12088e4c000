// Tests spans, lanes and the text of traces; the conformance suite checks the devices' spans.
#include "runtime/hal/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "runtime/drivers/null/driver.h"
#include "runtime/hal/device.h"
#include "tests/runtime/status_matchers.h"

namespace texloom::hal {
namespace {

using std::chrono::nanoseconds;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

TEST(Profiles, AThreadHasOneLane) {
  Profile profile;
  profile.name_host_track("main");
  {
    const HostSpan span(&profile, "build");
  }
  std::thread([&] { const HostSpan span(&profile, "start"); }).join();
  {
    const HostSpan span(&profile, "wait");
  }
  const auto [tracks, spans] = profile.snapshot();
  EXPECT_THAT(tracks, ElementsAre(Field(&ProfileTrack::name, "main"),
                                  Field(&ProfileTrack::name, "thread 1")));
  ASSERT_EQ(spans.size(), 3U);
  EXPECT_EQ(spans[0].track, spans[2].track);
  EXPECT_NE(spans[0].track, spans[1].track);
  EXPECT_LE(spans[0].begin, spans[0].end);
  EXPECT_LE(spans[0].end, spans[2].begin);
}

// The system may give a new thread the id of a thread that has ended.
TEST(Profiles, ThreadsOneAfterTheOtherHaveLanesOfTheirOwn) {
  Profile profile;
  std::thread([&] { profile.name_host_track("queue 0: starting"); }).join();
  for (int i = 0; i < 20; ++i) std::thread([&] { profile.host_track(); }).join();
  const auto tracks = profile.snapshot().tracks;
  ASSERT_EQ(tracks.size(), 21U);
  for (std::size_t i = 1; i < tracks.size(); ++i)
    EXPECT_EQ(tracks[i].name, "thread " + std::to_string(i));
}

TEST(Profiles, TheThreadsOfEachQueueHaveNamesOfTheirOwn) {
  const auto profile = std::make_shared<Profile>();
  const auto device = *null::create_driver()->open(0, {.profile = profile});
  const auto second = *device->create_queue();
  for (const auto& queue : {device->queue(), second}) TL_EXPECT_OK(queue->wait_idle());
  const auto has = [&](const char* name) {
    const auto tracks = profile->snapshot().tracks;
    return std::any_of(tracks.begin(), tracks.end(),
                       [&](const ProfileTrack& track) { return track.name == name; });
  };
  // Waits until each thread has recorded its name.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (const char* name :
       {"queue 0: starting", "queue 0: completing", "queue 1: starting", "queue 1: completing"}) {
    while (!has(name) && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    EXPECT_TRUE(has(name)) << name;
  }
}

// Each span of a snapshot has its lane, even if another thread adds lanes meanwhile.
TEST(Profiles, EverySpanOfASnapshotHasItsLane) {
  Profile profile;
  std::atomic<bool> done = false;
  std::thread adder([&] {
    for (int i = 0; i < 500; ++i)
      profile.add({.name = "f", .track = profile.add_device_track("GPU")});
    done = true;
  });
  while (!done) {
    const auto [tracks, spans] = profile.snapshot();
    const std::size_t count = tracks.size();
    EXPECT_TRUE(std::all_of(spans.begin(), spans.end(),
                            [count](const ProfileSpan& span) { return span.track < count; }));
    EXPECT_THAT(chrome_trace(profile), HasSubstr("traceEvents"));
  }
  adder.join();
}

TEST(Profiles, NothingIsMeasuredWithoutOne) { const HostSpan span(nullptr, "build"); }

TEST(Profiles, ClearKeepsTheLanes) {
  Profile profile;
  const std::uint32_t track = profile.add_device_track("GPU");
  profile.add({.name = "f", .track = track});
  profile.clear();
  EXPECT_TRUE(profile.snapshot().spans.empty());
  EXPECT_THAT(profile.snapshot().tracks, ElementsAre(Field(&ProfileTrack::name, "GPU, queue 0")));
}

TEST(Profiles, SpansBeyondTheLimitAreCounted) {
  Profile profile(10);
  for (int i = 0; i < 13; ++i) profile.add({});
  EXPECT_EQ(profile.snapshot().spans.size(), 10U);
  EXPECT_EQ(profile.dropped(), 3U);
}

// Times are in microseconds from the earliest span, in whatever order spans are added; names are
// escaped.
TEST(Profiles, TheTextOfATrace) {
  Profile profile;
  const std::uint32_t host = profile.host_track();
  const std::uint32_t device = profile.add_device_track("a \"GPU\"");
  const ProfileClock::time_point start(nanoseconds(5'000'000'000));
  profile.add({.name = "f\n",
               .track = device,
               .begin = start + nanoseconds(1'500),
               .end = start + nanoseconds(3'500),
               .queue_wait = nanoseconds(1'042),
               .bytes = 4'000});
  profile.add({.name = "start", .track = host, .begin = start, .end = start + nanoseconds(7)});
  // clang-format off
  EXPECT_EQ(chrome_trace(profile),
      R"({"displayTimeUnit":"ns","traceEvents":[
{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"host"}},
{"ph":"M","name":"process_name","pid":2,"tid":0,"args":{"name":"devices"}},
{"ph":"M","name":"thread_name","pid":1,"tid":0,"args":{"name":"thread 0"}},
{"ph":"M","name":"thread_name","pid":2,"tid":1,"args":{"name":"a \"GPU\", queue 0"}},
{"ph":"X","name":"f\u000a","pid":2,"tid":1,"ts":1.500,"dur":2.000,"args":{"queue_wait_us":1.042,"bytes":4000,"gb_per_s":2.000}},
{"ph":"X","name":"start","pid":1,"tid":0,"ts":0.000,"dur":0.007}
]}
)");
  // clang-format on
}

TEST(Profiles, AnEmptyTraceIsOne) {
  EXPECT_THAT(chrome_trace(Profile()), HasSubstr("\"traceEvents\":["));
}

}  // namespace
}  // namespace texloom::hal
