// Tests waits that a queue leaves to the device because its driver knows the signaling work.
#include "tests/runtime/hal/queue_fixture.h"
#include "tests/runtime/status_matchers.h"

namespace texloom::hal {
namespace {

using namespace std::chrono_literals;

class PlainSemaphore final : public SemaphoreBackend {
 public:
  void attach(const std::weak_ptr<Semaphore>& semaphore) override {
    attached = !semaphore.expired();
  }
  void reached(std::uint64_t value) override { last_reached = value; }
  void failed() override { has_failed = true; }
  Result<ExternalSemaphore> export_as(ExternalSemaphoreKind kind) override {
    if (kind == ExternalSemaphoreKind::OpaqueFd) return ExternalSemaphore{.kind = kind, .fd = 7};
    return SemaphoreBackend::export_as(kind);
  }

  bool attached = false, has_failed = false;
  std::uint64_t last_reached = 0;
};

class NativeWaits : public Queues {
 protected:
  NativeWaits() { waiting_script_->waits_natively = true; }
  // Lets all work complete, since the queues' destructors wait for it.
  ~NativeWaits() override {
    script_->run(false);
    waiting_script_->run(false);
  }

  std::shared_ptr<Semaphore> semaphore() const {
    return Semaphore::create({}, info_, std::make_unique<PlainSemaphore>());
  }
  Status submit_signal() { return queue_->submit({{}, {commands()}, {{s_, 1}}}); }
  Status submit_wait() { return waiting_->submit({{{s_, 1}}, {commands()}, {{done_, 1}}}); }
  bool has_started(int count = 1) {
    return waiting_script_->becomes([=](const Script& s) { return s.starts == count; });
  }

  std::shared_ptr<Script> waiting_script_ = std::make_shared<Script>();
  std::shared_ptr<Queue> waiting_ = make_queue(waiting_script_);
  std::shared_ptr<Semaphore> s_ = semaphore(), done_ = semaphore();
};

TEST_F(NativeWaits, StartBeforeTheSignal) {
  script_->run(true);
  TL_ASSERT_OK(submit_signal());
  TL_ASSERT_OK(submit_wait());
  ASSERT_TRUE(has_started());
  EXPECT_EQ(waiting_script_->native_waits, std::vector<std::size_t>{1});
  EXPECT_EQ(*s_->value(), 0U);
  // The host waits for the point before it reports the submission complete.
  EXPECT_EQ(waiting_->wait_idle(after(5ms)).code(), StatusCode::DeadlineExceeded);
  script_->run(false);
  TL_ASSERT_OK(waiting_->wait_idle());
  EXPECT_EQ(*done_->value(), 1U);
}

TEST_F(NativeWaits, MayBeSubmittedBeforeTheirSignal) {
  script_->run(true);
  TL_ASSERT_OK(submit_wait());
  EXPECT_EQ(waiting_script_->start_count(), 0);
  TL_ASSERT_OK(submit_signal());
  ASSERT_TRUE(has_started());
  EXPECT_EQ(waiting_script_->native_waits, std::vector<std::size_t>{1});
  script_->run(false);
  TL_ASSERT_OK(waiting_->wait_idle());
}

// Work that the device already has runs, but gets the error of the work that it waited for.
TEST_F(NativeWaits, PassErrorsOn) {
  script_->run(true);
  script_->work_error = lost();
  TL_ASSERT_OK(submit_signal());
  TL_ASSERT_OK(submit_wait());
  ASSERT_TRUE(has_started());
  script_->run(false);
  EXPECT_EQ(waiting_->wait_idle().message(), lost().message());
  EXPECT_EQ(done_->value().status().message(), lost().message());
  EXPECT_EQ(queue_->wait_idle().message(), lost().message());
}

TEST_F(NativeWaits, AreTheHostsWhereTheDriverSaysNo) {
  waiting_script_->waits_natively = false;
  script_->run(true);
  TL_ASSERT_OK(submit_signal());
  TL_ASSERT_OK(submit_wait());
  ASSERT_TRUE(script_->becomes([](const Script& s) { return s.waits == 1; }));
  EXPECT_EQ(waiting_script_->start_count(), 0);
  script_->run(false);
  TL_ASSERT_OK(waiting_->wait_idle());
  EXPECT_EQ(waiting_script_->native_waits, std::vector<std::size_t>{0});
}

// The host waits for semaphores of another device, or of no device.
TEST_F(NativeWaits, AreTheHostsForOtherSemaphores) {
  for (const auto& other : {Semaphore::create({}, std::make_shared<const DeviceInfo>(),
                                              std::make_unique<PlainSemaphore>()),
                            Semaphore::create()}) {
    s_ = other;
    const int before = waiting_script_->start_count();
    script_->run(true);
    TL_ASSERT_OK(submit_signal());
    TL_ASSERT_OK(waiting_->submit({{{s_, 1}}, {commands()}, {}}));
    EXPECT_EQ(waiting_->wait_idle(after(5ms)).code(), StatusCode::DeadlineExceeded);
    EXPECT_EQ(waiting_script_->start_count(), before);
    script_->run(false);
    TL_ASSERT_OK(waiting_->wait_idle());
  }
}

TEST_F(NativeWaits, AreTheHostsForHostCalls) {
  script_->run(true);
  bool called = false;
  TL_ASSERT_OK(submit_signal());
  TL_ASSERT_OK(waiting_->submit({{{s_, 1}},
                                 {host_call([&] {
                                   called = s_->value().ok() && *s_->value() == 1;
                                   return Status();
                                 })},
                                 {}}));
  EXPECT_EQ(waiting_->wait_idle(after(5ms)).code(), StatusCode::DeadlineExceeded);
  script_->run(false);
  TL_ASSERT_OK(waiting_->wait_idle());
  EXPECT_TRUE(called);
}

// The host waits for one of two points, and the device for the other. The submission starts once
// the host's point is reached.
TEST_F(NativeWaits, StandBesideWaitsOfTheHost) {
  script_->run(true);
  TL_ASSERT_OK(submit_signal());
  TL_ASSERT_OK(waiting_->submit({{{s_, 1}, {a_, 1}}, {commands()}, {}}));
  ASSERT_TRUE(script_->becomes([](const Script& s) { return s.waits == 1; }));
  EXPECT_EQ(waiting_script_->start_count(), 0);
  TL_ASSERT_OK(a_->signal(1));
  ASSERT_TRUE(has_started());
  EXPECT_EQ(waiting_script_->native_waits, std::vector<std::size_t>{1});
  script_->run(false);
  TL_ASSERT_OK(waiting_->wait_idle());
}

// Releasing a queue does not wait for another queue's work on the host.
TEST_F(NativeWaits, EndWithTheirQueue) {
  script_->run(true);
  TL_ASSERT_OK(submit_signal());
  TL_ASSERT_OK(submit_wait());
  ASSERT_TRUE(has_started());
  waiting_.reset();
  EXPECT_EQ(*done_->value(), 1U);
  EXPECT_EQ(*s_->value(), 0U);
}

TEST_F(NativeWaits, KeepNoSemaphoreAfterwards) {
  script_->run(true);
  TL_ASSERT_OK(submit_signal());
  TL_ASSERT_OK(submit_wait());
  ASSERT_TRUE(has_started());
  const std::weak_ptr<Semaphore> watched = s_;
  s_.reset();
  EXPECT_FALSE(watched.expired());
  script_->run(false);
  TL_ASSERT_OK(queue_->wait_idle());
  TL_ASSERT_OK(waiting_->wait_idle());
  EXPECT_TRUE(watched.expired());
}

TEST_F(Queues, CallTheDriverInAScope) {
  TL_ASSERT_OK(queue_->submit({{}, {commands()}, {{a_, 1}}}));
  TL_ASSERT_OK(queue_->submit({{}, {commands()}, {}}));
  TL_ASSERT_OK(queue_->wait_idle());
  EXPECT_EQ(script_->calls_outside, 0);
  EXPECT_EQ(script_->open_scopes, 0);
  EXPECT_GE(script_->scopes, 3);
}

TEST(SemaphoreBackends, HearOfTheHostsValues) {
  auto owned = std::make_unique<PlainSemaphore>();
  PlainSemaphore& backend = *owned;
  const auto semaphore = Semaphore::create({.value = 3}, nullptr, std::move(owned));
  EXPECT_TRUE(backend.attached);
  TL_ASSERT_OK(semaphore->signal(5));
  EXPECT_EQ(backend.last_reached, 5U);
  EXPECT_FALSE(semaphore->signal(5).ok());
  TL_ASSERT_OK(semaphore->fail(lost()));
  EXPECT_TRUE(backend.has_failed);
}

TEST(SemaphoreBackends, ExportWhatTheyKnow) {
  const auto semaphore = Semaphore::create({}, nullptr, std::make_unique<PlainSemaphore>());
  EXPECT_EQ(semaphore->export_as(ExternalSemaphoreKind::OpaqueFd)->fd, 7);
  EXPECT_EQ(semaphore->export_as(ExternalSemaphoreKind::SharedEvent).status().code(),
            StatusCode::Unimplemented);
  EXPECT_EQ(Semaphore::create()->export_as(ExternalSemaphoreKind::OpaqueFd).status().code(),
            StatusCode::Unimplemented);
}

TEST(ScheduledValues, AreToldOnce) {
  const auto semaphore = Semaphore::create();
  int calls = 0;
  const auto count = [&](const Status&) { ++calls; };
  semaphore->when_scheduled(2, count);
  const std::uint64_t canceled = semaphore->when_scheduled(2, count);
  EXPECT_TRUE(semaphore->cancel(canceled));
  semaphore->schedule(1);
  EXPECT_EQ(calls, 0);
  semaphore->schedule(3);
  semaphore->schedule(3);
  EXPECT_EQ(calls, 1);
  semaphore->when_scheduled(3, count);
  EXPECT_EQ(calls, 2);
  // The callback is called neither for a value that is already reached nor after a failure.
  semaphore->when_scheduled(4, count);
  TL_ASSERT_OK(semaphore->signal(4));
  semaphore->schedule(4);
  TL_ASSERT_OK(semaphore->fail(lost()));
  semaphore->schedule(9);
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace texloom::hal
