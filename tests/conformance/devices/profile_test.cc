// Tests profiles: every driver records a span for each command, on the host's clock.
#include "runtime/hal/profile.h"

#include <algorithm>
#include <set>

#include "tests/conformance/fixture.h"

namespace texloom::hal::conformance {
namespace {

class Profiles : public DispatchFixture {
 protected:
  void SetUp() override {
    DispatchFixture::SetUp();
    if (IsSkipped()) return;
    DeviceOptions options;
    options.profile = profile_;
    use(open_another(options));
    x_ = make_buffer(bytes_of(std::vector<std::uint32_t>(8, 0)));
    EntryPoint entry = kernels::advance();
    std::get<BufferParam>(entry.params[0]).min_bytes = 32;
    advance_ = executable(entry);
    profile_->clear();
  }
  Status advance(CommandBuffer& commands) {
    return dispatch(commands, advance_, {8, 1, 1}, {BufferBinding{x_}}, {Constant(1)});
  }
  // Returns the spans of all lanes of one kind.
  std::vector<ProfileSpan> spans(ProfileTrack::Kind kind) const {
    ProfileSnapshot now = profile_->snapshot();
    std::erase_if(now.spans,
                  [&](const ProfileSpan& s) { return now.tracks[s.track].kind != kind; });
    return now.spans;
  }

  std::shared_ptr<Profile> profile_ = std::make_shared<Profile>();
  std::shared_ptr<Buffer> x_;
  std::shared_ptr<Executable> advance_;
};
TL_ON_EVERY_DEVICE_WITH_EVERY_BINDING(Profiles);

TEST_P(Profiles, HaveASpanForEachCommand) {
  const auto other = make_buffer(64);
  profile_->clear();
  const ProfileClock::time_point before = ProfileClock::now();
  const auto commands = begin();
  TL_ASSERT_OK(advance(*commands));
  TL_ASSERT_OK(commands->copy_buffer(x_, 0, other, 32, 32));
  TL_ASSERT_OK(advance(*commands));
  TL_ASSERT_OK(start(commands));
  TL_ASSERT_OK(queue().wait_idle());
  const ProfileClock::time_point after = ProfileClock::now();
  const auto found = spans(ProfileTrack::Kind::DeviceQueue);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].name, "advance");
  EXPECT_EQ(found[1].name, "copy_buffer");
  EXPECT_EQ(found[2].name, "advance");
  EXPECT_EQ(found[0].bytes, 32U);
  EXPECT_EQ(found[1].bytes, 64U);
  for (const ProfileSpan& span : found) {
    EXPECT_LE(before, span.begin);
    EXPECT_LE(span.begin, span.end);
    EXPECT_LE(span.end, after + std::chrono::milliseconds(1));  // tolerance between two clocks
    EXPECT_GE(span.queue_wait.count(), 0);
  }
  EXPECT_LE(found[0].begin, found[2].begin);
}

// Each submission of a reusable command buffer counts, including the parts around a host call.
TEST_P(Profiles, CountEachSubmission) {
  const auto commands = begin_reusable();
  TL_ASSERT_OK(advance(*commands));
  TL_ASSERT_OK(commands->host_call([] { return Status(); }));
  TL_ASSERT_OK(advance(*commands));
  TL_ASSERT_OK(commands->finish());
  for (int i = 0; i < 3; ++i) TL_ASSERT_OK(queue().submit({.commands = {with_table(commands)}}));
  TL_ASSERT_OK(queue().wait_idle());
  const auto found = spans(ProfileTrack::Kind::DeviceQueue);
  EXPECT_EQ(std::count_if(found.begin(), found.end(),
                          [](const ProfileSpan& span) { return span.name == "advance"; }),
            6);
}

TEST_P(Profiles, HaveALaneForEachQueue) {
  const auto second = *device().create_queue();
  const auto run_on = [&](Queue& queue) {
    const auto commands = begin();
    TL_ASSERT_OK(commands->fill(x_, 0, 4, std::array{std::byte{1}}));
    TL_ASSERT_OK(commands->finish());
    TL_ASSERT_OK(queue.submit(commands));
    TL_ASSERT_OK(queue.wait_idle());
  };
  run_on(queue());
  run_on(*second);
  const auto found = spans(ProfileTrack::Kind::DeviceQueue);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NE(found[0].track, found[1].track);
  EXPECT_EQ(found[0].name, "fill");
}

// The host's spans of a submission are its start and the wait for its end.
TEST_P(Profiles, SayWhatTheQueueDid) {
  const auto commands = begin();
  TL_ASSERT_OK(advance(*commands));
  TL_ASSERT_OK(start(commands));
  TL_ASSERT_OK(queue().wait_idle());
  std::multiset<std::string> names;
  for (const ProfileSpan& span : spans(ProfileTrack::Kind::HostThread)) names.insert(span.name);
  EXPECT_EQ(names.count("start a submission"), 1U);
  EXPECT_EQ(names.count("wait for the device"), 1U);
}

}  // namespace
}  // namespace texloom::hal::conformance
