// Tests several queues of one device: only semaphores order them.
#include <future>

#include "tests/conformance/fixture.h"

namespace texloom::hal::conformance {
namespace {

class Queues : public DispatchFixture {
 protected:
  void SetUp() override {
    DispatchFixture::SetUp();
    if (IsSkipped()) return;
    auto made = device().create_queue();
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    second_ = *made;
    x_ = make_buffer(bytes_of(std::vector<std::uint32_t>(8, 0)));
    advance_ = executable(kernels::advance());
    turn_ = make_semaphore();
  }
  SubmittedCommands advanced_by(int k) {
    const auto commands = begin();
    EXPECT_TRUE(dispatch(*commands, advance_, {8, 1, 1}, {BufferBinding{x_}}, {Constant(k)}).ok());
    EXPECT_TRUE(commands->finish().ok());
    return with_table(commands);
  }

  std::shared_ptr<Queue> second_;
  std::shared_ptr<Buffer> x_;
  std::shared_ptr<Executable> advance_;
  std::shared_ptr<Semaphore> turn_;
};
TL_ON_EVERY_DEVICE_WITH_EVERY_BINDING(Queues);

// The steps do not commute. Everything is submitted at once, the second half first.
TEST_P(Queues, TakeTurnsBySemaphores) {
  constexpr int kTurns = 20;
  std::uint32_t expected = 0;
  for (int k = 1; k <= kTurns; ++k) expected = 3 * expected + static_cast<std::uint32_t>(k);
  for (int k = 2; k <= kTurns; k += 2) {
    const auto turn = static_cast<std::uint64_t>(k);
    TL_ASSERT_OK(second_->submit({{{turn_, turn - 1}}, {advanced_by(k)}, {{turn_, turn}}}));
  }
  for (int k = 1; k <= kTurns; k += 2) {
    const auto turn = static_cast<std::uint64_t>(k);
    TL_ASSERT_OK(queue().submit({{{turn_, turn - 1}}, {advanced_by(k)}, {{turn_, turn}}}));
  }
  TL_ASSERT_OK(turn_->wait(kTurns));
  expect_values(x_, std::vector<std::uint32_t>(8, expected));
}

// A callback blocks the first queue's completion thread. A driver that waits natively runs the
// second queue's work although the host does not know of the signal; other drivers run it later.
TEST_P(Queues, WaitForWorkUnderWay) {
  const auto held = make_semaphore(), done = make_semaphore();
  std::promise<void> go_on;
  held->when_reached(1, [&](const Status&) { go_on.get_future().wait(); });
  TL_ASSERT_OK(queue().submit({{}, {advanced_by(1)}, {{held, 1}}}));
  TL_ASSERT_OK(queue().submit({{}, {advanced_by(2)}, {{turn_, 1}}}));
  TL_ASSERT_OK(second_->submit({{{turn_, 1}}, {advanced_by(3)}, {{done, 1}}}));
  EXPECT_EQ(done->wait(1, after(std::chrono::milliseconds(20))).code(),
            StatusCode::DeadlineExceeded);
  EXPECT_EQ(*turn_->value(), 0U);
  go_on.set_value();
  TL_ASSERT_OK(done->wait(1));
  expect_values(x_, std::vector<std::uint32_t>(8, 3 * (3 * 1 + 2) + 3));
}

// A semaphore belongs to one device, but queues of any device may wait for it and signal it.
TEST_P(Queues, WaitForSemaphoresOfOtherDevices) {
  const auto other = open_another();
  const auto theirs = other->create_semaphore();
  TL_ASSERT_OK(theirs.status());
  TL_ASSERT_OK(second_->submit({{{*theirs, 1}}, {advanced_by(2)}, {{*theirs, 2}}}));
  TL_ASSERT_OK(queue().submit({{{*theirs, 2}}, {advanced_by(3)}, {{turn_, 1}}}));
  TL_ASSERT_OK(other->queue()->submit({.signals = {{*theirs, 1}}}));
  TL_ASSERT_OK(turn_->wait(1));
  expect_values(x_, std::vector<std::uint32_t>(8, 9));
}

// A driver that shares semaphores with other APIs exports a handle of the requested kind. Other
// drivers return Unimplemented.
TEST_P(Queues, ExportSemaphoresOrRefuse) {
  for (const auto kind : {ExternalSemaphoreKind::OpaqueFd, ExternalSemaphoreKind::SharedEvent}) {
    const auto exported = turn_->export_as(kind);
    if (exported.ok()) {
      EXPECT_EQ(exported->kind, kind);
      TL_EXPECT_OK(device().import_semaphore(*exported).status());
    } else {
      EXPECT_EQ(exported.status().code(), StatusCode::Unimplemented);
      EXPECT_EQ(device().import_semaphore({.kind = kind}).status().code(),
                StatusCode::Unimplemented);
    }
  }
}

TEST_P(Queues, DoNotWaitForEachOther) {
  TL_ASSERT_OK(queue().submit({{{turn_, 1}}, {advanced_by(1)}, {}}));
  TL_ASSERT_OK(second_->submit({{}, {advanced_by(5)}, {}}));
  TL_ASSERT_OK(second_->wait_idle());
  EXPECT_FALSE(queue().is_idle());
  TL_ASSERT_OK(turn_->signal(1));
  TL_ASSERT_OK(queue().wait_idle());
  expect_values(x_, std::vector<std::uint32_t>(8, 16));
}

TEST_P(Queues, PassErrorsOnBySemaphores) {
  const auto failed = make_semaphore();
  TL_ASSERT_OK(second_->submit({{{turn_, 1}}, {advanced_by(1)}, {{failed, 1}}}));
  TL_ASSERT_OK(queue().submit({{{failed, 1}}, {advanced_by(2)}, {}}));
  TL_ASSERT_OK(turn_->fail(Status(StatusCode::DeviceError, "given up")));
  EXPECT_EQ(queue().wait_idle().message(), "given up");
  EXPECT_EQ(second_->wait_idle().message(), "given up");
  expect_values(x_, std::vector<std::uint32_t>(8, 0));
  TL_ASSERT_OK(queue().submit({{}, {advanced_by(2)}, {}}));
  TL_ASSERT_OK(queue().wait_idle());
}

TEST_P(Queues, AreReleasedWithWorkUnderWay) {
  const auto done = make_semaphore();
  TL_ASSERT_OK(second_->submit({{}, {advanced_by(7)}, {{done, 1}}}));
  second_.reset();
  TL_ASSERT_OK(done->wait(1));
  expect_values(x_, std::vector<std::uint32_t>(8, 7));
}

TEST_P(Queues, AWaitEndsAtItsDeadline) {
  TL_ASSERT_OK(second_->submit({{{turn_, 1}}, {advanced_by(1)}, {}}));
  EXPECT_EQ(second_->wait_idle(after(std::chrono::milliseconds(10))).code(),
            StatusCode::DeadlineExceeded);
  TL_ASSERT_OK(turn_->signal(1));
  TL_ASSERT_OK(second_->wait_idle(after(std::chrono::seconds(60))));
}

// Memory of the pool moves from one queue to another in the order of the given semaphores.
TEST_P(Queues, ShareTheWorkspacePool) {
  auto lease = device().workspace_pool().allocate(device().queue(), BufferDesc{.bytes = 4096}, {},
                                                  {{turn_, 1}});
  ASSERT_TRUE(lease.ok()) << lease.status().to_string();
  TL_ASSERT_OK(turn_->wait(1));
  TL_ASSERT_OK(lease->release(second_, {{turn_, 1}}, {{turn_, 2}}));
  TL_ASSERT_OK(turn_->wait(2));
}

}  // namespace
}  // namespace texloom::hal::conformance
