// Tests a pool shared by several queues and several threads.
#include <chrono>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "tests/runtime/hal/workspace_pool_fixture.h"
#include "tests/runtime/opencl_fixture.h"

namespace texloom::hal {
namespace {

// Another queue's work with the object is complete once its point is reached, or once its command
// buffer is destroyed.
TEST_F(WorkspacePools, AnotherQueueTakesWhatIsComplete) {
  for (const bool with_point : {true, false}) {
    const auto gate = gate_ = Semaphore::create();
    const auto done = Semaphore::create();
    auto lease = acquire(texture({8, 8}));
    // While the caller's handle is alive, only the point shows completion.
    const std::shared_ptr<Texture> held = with_point ? lease.object() : nullptr;
    const Texture* object = lease.object().get();
    use_until_gate_opens(lease.object(), device_->queue(), {{done, 1}});
    lease.release(with_point ? std::optional(TimelinePoint{done, 1}) : std::nullopt);
    auto early = pool_.acquire(other_, texture({8, 8}));
    ASSERT_TRUE(early.ok());
    EXPECT_NE(early->object().get(), object);
    TL_ASSERT_OK(gate->signal(1));
    TL_ASSERT_OK(device_->queue()->wait_idle());
    const auto late = pool_.acquire(other_, texture({8, 8}));
    ASSERT_TRUE(late.ok());
    EXPECT_EQ(late->object().get(), object);
    EXPECT_FALSE(late->wait());
  }
  EXPECT_EQ(pool_.statistics().waits, 0U);
}

// Released objects may still be in use on any queue of the device.
TEST_F(WorkspacePools, AllocationsWaitForTheQueuesOfTheDevice) {
  device_->memory->capacity = 2048;
  use_until_gate_opens(*device_->create_texture(texture({8, 8})), other_);
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    TL_EXPECT_OK(gate_->signal(1));
  });
  TL_EXPECT_OK(device_->create_texture(texture({8, 16})).status());
  opener.join();
}

class BusyElsewhere : public WorkspacePools {
 protected:
  // Makes an object that a queue uses until the gate opens; it is free once `done_` is signaled.
  void SetUp() override {
    auto lease = *pool_.acquire(other_, texture({8, 8}));
    object_ = lease.object().get();
    use_until_gate_opens(lease.object(), other_, {{done_, 1}});
    lease.release(TimelinePoint{done_, 1});
  }
  void TearDown() override { TL_ASSERT_OK(gate_->signal(1)); }

  Lease<Texture> acquire_with(Dependencies dependencies) {
    auto lease = pool_.acquire(device_->queue(), texture({8, 7}), dependencies);
    EXPECT_TRUE(lease.ok()) << lease.status().to_string();
    return *std::move(lease);
  }

  std::shared_ptr<Semaphore> done_ = Semaphore::create();
  const Texture* object_ = nullptr;
};

TEST_F(BusyElsewhere, WhereThereIsMemoryNobodyWaits) {
  const auto lease = acquire_with(Dependencies::Allowed);
  EXPECT_NE(lease.object().get(), object_);
  EXPECT_FALSE(lease.wait());
}

TEST_F(BusyElsewhere, AtTheBoundThePointIsWaitedFor) {
  pool_.set_max_bytes(1024);
  const int calls = driver_calls();
  const auto lease = acquire_with(Dependencies::Allowed);
  EXPECT_EQ(lease.object().get(), object_);
  ASSERT_TRUE(lease.wait());
  EXPECT_EQ(lease.wait()->semaphore, done_);
  EXPECT_EQ(lease.wait()->value, 1U);
  EXPECT_EQ(driver_calls(), calls);
  EXPECT_EQ(pool_.statistics().waits, 1U);
  EXPECT_EQ(pool_.statistics().reuses, 1U);  // an object larger than the request
  EXPECT_EQ(pool_.statistics().exact_hits, 0U);
}

TEST_F(BusyElsewhere, WhereTheDriverHasNoMoreThePointIsWaitedFor) {
  device_->memory->capacity = device_->memory->live;
  const auto lease = acquire_with(Dependencies::Allowed);
  EXPECT_EQ(lease.object().get(), object_);
  EXPECT_TRUE(lease.wait());
  EXPECT_EQ(pool_.statistics().bytes_held, 1024U);
}

// The device's pool waits for busy objects, too, before an allocation fails.
TEST_F(WorkspacePools, TheDevicesPoolWaitsBeforeItFails) {
  WorkspacePool& pool = device_->workspace_pool();
  const auto done = Semaphore::create();
  auto lease = *pool.acquire(other_, texture({8, 8}));
  const Texture* object = lease.object().get();
  use_until_gate_opens(lease.object(), other_, {{done, 1}});
  lease.release(TimelinePoint{done, 1});
  device_->memory->capacity = device_->memory->live;
  const auto next = pool.acquire(device_->queue(), texture({8, 7}), Dependencies::Allowed);
  TL_ASSERT_OK(gate_->signal(1));
  ASSERT_TRUE(next.ok()) << next.status().to_string();
  EXPECT_EQ(next->object().get(), object);
  EXPECT_TRUE(next->wait());
}

// At the bound, the pool frees the object instead of waiting; its memory lasts until its work is
// complete.
TEST_F(BusyElsewhere, NobodyWaitsUnasked) {
  pool_.set_max_bytes(1024);
  const auto lease = acquire_with(Dependencies::None);
  EXPECT_NE(lease.object().get(), object_);
  EXPECT_FALSE(lease.wait());
}

// A failed semaphore would fail waiting work, and does not show that the earlier work is complete.
TEST_F(BusyElsewhere, NobodyWaitsForAPointThatFailed) {
  pool_.set_max_bytes(1024);
  TL_ASSERT_OK(done_->fail(make_error(StatusCode::DeviceError, "lost")));
  EXPECT_NE(acquire_with(Dependencies::Allowed).object().get(), object_);
}

// A queue may get a busy object if the queue itself waits for the point.
TEST_F(BusyElsewhere, AQueueOrderedAllocationWaitsItself) {
  pool_.set_max_bytes(1024);
  const auto ready = Semaphore::create();
  auto lease = pool_.allocate(device_->queue(), texture({8, 8}), {}, {{ready, 1}});
  ASSERT_TRUE(lease.ok()) << lease.status().to_string();
  EXPECT_EQ(lease->object().get(), object_);
  EXPECT_FALSE(lease->wait());
  EXPECT_EQ(*ready->value(), 0U);
  EXPECT_FALSE(device_->queue()->is_idle());
  // The queue also waits if the caller releases without a signal.
  lease->release();
  lease = pool_.allocate(device_->queue(), texture({8, 8}), {{ready, 2}}, {});
  ASSERT_TRUE(lease.ok());
  TL_ASSERT_OK(gate_->signal(1));
  TL_ASSERT_OK(ready->wait(1));
  EXPECT_FALSE(device_->queue()->is_idle());
  TL_ASSERT_OK(ready->signal(2));
  TL_ASSERT_OK(device_->queue()->wait_idle());
  gate_ = Semaphore::create();
}

TEST_F(WorkspacePools, AQueueOrderedReleaseTakesItsPlaceInTheQueue) {
  auto lease = acquire(texture({8, 8}));
  const Texture* object = lease.object().get();
  use_until_gate_opens(lease.object(), device_->queue(), {});
  const auto freed = Semaphore::create();
  // From now on `other_` owns the object, after the points that the release waits for.
  TL_ASSERT_OK(lease.release(other_, {{gate_, 1}}, {{freed, 1}}));
  EXPECT_FALSE(lease);
  const auto next = pool_.acquire(other_, texture({8, 8}));
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(next->object().get(), object);
  EXPECT_EQ(*freed->value(), 0U);
  TL_ASSERT_OK(gate_->signal(1));
  TL_ASSERT_OK(freed->wait(1));
}

// The order of another device's queue does not order this device's work.
TEST_F(WorkspacePools, QueuesOfAnotherDeviceAreRefused) {
  CountingDevice elsewhere(std::make_shared<const DeviceInfo>(null::default_device()));
  const std::shared_ptr<Queue>& foreign = elsewhere.queue();
  const auto done = Semaphore::create();
  EXPECT_EQ(pool_.acquire(foreign, buffer(64)).status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(pool_.acquire(foreign, texture({4, 4})).status().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(pool_.allocate(foreign, buffer(64), {}, {{done, 1}}).status().code(),
            StatusCode::InvalidArgument);
  EXPECT_EQ(pool_.allocate(foreign, texture({4, 4}), {}, {{done, 1}}).status().code(),
            StatusCode::InvalidArgument);
  EXPECT_EQ(pool_.statistics().requests, 0U);

  auto lease = acquire(buffer(64));
  EXPECT_THAT(lease.release(foreign, {}, {{done, 1}}),
              fails_with(StatusCode::InvalidArgument, "belongs to another device"));
  EXPECT_TRUE(lease);  // unchanged
  TL_ASSERT_OK(elsewhere.queue()->wait_idle());
  EXPECT_EQ(*done->value(), 0U);
  TL_EXPECT_OK(lease.release(device_->queue(), {}, {{done, 1}}));
}

// Threads use objects of a few sizes while one trims the pool: no object is lent twice at once.
TEST_F(WorkspacePools, ThreadsNeverShareAnObject) {
  std::mutex mutex;
  std::set<const void*> lent;
  const auto work = [&](unsigned seed) {
    std::mt19937 engine(seed);
    for (int i = 0; i < 500; ++i) {
      const auto queue = engine() % 2 == 0 ? device_->queue() : other_;
      auto lease =
          pool_.acquire(queue, texture({8, 8 + 4 * static_cast<std::uint32_t>(engine() % 3)}));
      ASSERT_TRUE(lease.ok()) << lease.status().to_string();
      {
        const std::scoped_lock lock(mutex);
        ASSERT_TRUE(lent.insert(lease->object().get()).second);
      }
      {
        const std::scoped_lock lock(mutex);
        lent.erase(lease->object().get());
      }
      if (engine() % 4 != 0) lease->release();
      if (i % 100 == 0) pool_.trim();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) threads.emplace_back(work, t);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool_.statistics().bytes_in_use, 0U);
  EXPECT_EQ(pool_.statistics().bytes_held, device_->memory->live);
}

// On a real device, each round's copies use the same texture, although no round waits for another
// round.
class WorkspacePoolOnOpenCl : public OpenClTest {};

TEST_F(WorkspacePoolOnOpenCl, WorkInFlightSharesATexture) {
  constexpr Extent2D kExtent{32, 16};
  constexpr std::uint64_t kBytes = 32 * 16 * 16;
  WorkspacePool& pool = device_->workspace_pool();
  const std::shared_ptr<Queue> queue = device_->queue();
  const auto start = Semaphore::create();
  std::vector<std::shared_ptr<Buffer>> inputs, outputs;
  TL_ASSERT_OK(queue->submit({{{start, 1}}, {}, {{start, 2}}}));
  for (unsigned round = 0; round < 10; ++round) {
    inputs.push_back(make_buffer(kBytes));
    outputs.push_back(make_buffer(kBytes));
    // Every other lease is queue-ordered.
    auto lease = round % 2 == 0 ? pool.acquire(queue, texture(kExtent))
                                : pool.allocate(queue, texture(kExtent), {{start, 1}}, {});
    ASSERT_TRUE(lease.ok()) << lease.status().to_string();
    const auto commands = device_->create_command_buffer();
    TL_ASSERT_OK(commands->update(inputs.back(), 0, random_bytes(kBytes, round)));
    TL_ASSERT_OK(
        commands->copy_buffer_to_texture(inputs.back(), lease->object(), {.extent = kExtent}));
    TL_ASSERT_OK(
        commands->copy_texture_to_buffer(lease->object(), outputs.back(), {.extent = kExtent}));
    TL_ASSERT_OK(commands->finish());
    TL_ASSERT_OK(queue->submit(commands));
    if (round % 3 == 0) {
      lease->release();
    } else {
      TL_ASSERT_OK(lease->release(queue, {}, {{Semaphore::create(), 1}}));
    }
  }
  EXPECT_EQ(pool.statistics().driver_allocations, 1U);
  TL_ASSERT_OK(start->signal(1));
  TL_ASSERT_OK(queue->wait_idle());
  for (unsigned round = 0; round < 10; ++round)
    EXPECT_EQ(content_of(outputs[round]), random_bytes(kBytes, round)) << round;
}

}  // namespace
}  // namespace texloom::hal
