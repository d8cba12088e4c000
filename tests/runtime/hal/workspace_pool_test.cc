// What a pool lends, what it keeps, and when it calls the driver: over a device of the tests' own
// that counts the calls.
#include "runtime/hal/workspace_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iostream>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "runtime/drivers/null/driver.h"
#include "tests/runtime/opencl_fixture.h"

namespace texloom::hal {
namespace {

using std::chrono::milliseconds;

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TEXLOOM_SANITIZED
#endif
#endif
#if defined(NDEBUG) && !defined(TEXLOOM_SANITIZED)
constexpr bool kSlowBuild = false;
#else
constexpr bool kSlowBuild = true;
#endif

// What the driver was asked for, and how much it has.
struct Memory {
  std::mutex mutex;
  std::uint64_t capacity = 1 << 30;
  std::uint64_t live = 0;
  int calls = 0;

  Status take(std::uint64_t bytes) {
    const std::scoped_lock lock(mutex);
    ++calls;
    if (live + bytes > capacity) return make_error(StatusCode::OutOfMemory, "no more memory");
    live += bytes;
    return {};
  }
  void give(std::uint64_t bytes) {
    const std::scoped_lock lock(mutex);
    live -= bytes;
  }
};

class CountedBuffer final : public Buffer {
 public:
  CountedBuffer(std::shared_ptr<const DeviceInfo> info, const BufferDesc& desc,
                std::shared_ptr<Memory> memory)
      : Buffer(std::move(info), desc), memory_(std::move(memory)) {}
  ~CountedBuffer() override { memory_->give(bytes()); }

 private:
  std::shared_ptr<Memory> memory_;
};

std::uint64_t bytes_of(const TextureDesc& desc) {
  return std::uint64_t{desc.extent.width} * desc.extent.height * bytes_per_texel(desc.format);
}

class CountedTexture final : public Texture {
 public:
  CountedTexture(std::shared_ptr<const DeviceInfo> info, const TextureDesc& desc,
                 std::shared_ptr<Memory> memory)
      : Texture(std::move(info), desc), memory_(std::move(memory)) {}
  ~CountedTexture() override { memory_->give(bytes_of(desc())); }

 private:
  std::shared_ptr<Memory> memory_;
};

class InstantQueue final : public QueueBackend {
 public:
  Result<std::unique_ptr<Work>> start(std::span<const SubmittedCommands>) override {
    return std::unique_ptr<Work>(std::make_unique<Done>());
  }

 private:
  class Done final : public Work {
   public:
    bool is_complete() override { return true; }
    Status wait() override { return {}; }
  };
};

class CountingAllocator final : public Allocator {
 public:
  CountingAllocator(std::shared_ptr<const DeviceInfo> info, std::shared_ptr<Memory> memory)
      : Allocator(std::move(info), {}), memory_(std::move(memory)) {}

  bool supports(TexelFormat, TextureUsage) const override { return true; }

 private:
  Result<std::shared_ptr<Buffer>> allocate(const BufferDesc& desc) override {
    TL_RETURN_IF_ERROR(memory_->take(desc.bytes));
    return std::shared_ptr<Buffer>(std::make_shared<CountedBuffer>(shared_info(), desc, memory_));
  }
  Result<std::shared_ptr<Texture>> allocate(const TextureDesc& desc) override {
    TL_RETURN_IF_ERROR(memory_->take(bytes_of(desc)));
    return std::shared_ptr<Texture>(std::make_shared<CountedTexture>(shared_info(), desc, memory_));
  }

  std::shared_ptr<Memory> memory_;
};

std::shared_ptr<Queue> instant_queue(const std::shared_ptr<const DeviceInfo>& info) {
  return *Queue::create(info, std::make_unique<InstantQueue>());
}

class CountingDevice final : public Device {
 public:
  explicit CountingDevice(const std::shared_ptr<const DeviceInfo>& info)
      : CountingDevice(info, std::make_shared<Memory>()) {}

  const std::shared_ptr<Memory> memory;

 private:
  CountingDevice(const std::shared_ptr<const DeviceInfo>& info,
                 const std::shared_ptr<Memory>& counted)
      : Device({}, info, std::make_shared<CountingAllocator>(info, counted), instant_queue(info)),
        memory(counted),
        info_(info) {}

  Result<std::shared_ptr<Executable>> create_checked(const ExecutableDesc&) override {
    return make_error(StatusCode::Unimplemented, "no kernels");
  }
  Result<std::unique_ptr<QueueBackend>> create_backend() override {
    return std::unique_ptr<QueueBackend>(std::make_unique<InstantQueue>());
  }

  std::shared_ptr<const DeviceInfo> info_;
};

TextureDesc texture(Extent2D extent, TexelFormat format = TexelFormat::Rgba32Float) {
  return {.extent = extent, .format = format};
}
BufferDesc buffer(std::uint64_t bytes) { return {.bytes = bytes}; }

class WorkspacePools : public ::testing::Test {
 protected:
  template <class Desc>
  auto acquire(const Desc& desc) {
    auto lease = pool_.acquire(device_->queue(), desc);
    EXPECT_TRUE(lease.ok()) << lease.status().to_string();
    return *std::move(lease);
  }
  // Acquires and releases; returns the object, for comparisons alone.
  template <class Desc>
  const void* pass(const Desc& desc) {
    auto lease = acquire(desc);
    const void* object = lease.object().get();
    lease.release();
    return object;
  }
  int driver_calls() const { return device_->memory->calls; }

  // Work on a queue that names the object and goes on until `gate_` is 1.
  void use_until_gate_opens(const std::shared_ptr<Texture>& object,
                            const std::shared_ptr<Queue>& queue,
                            std::vector<TimelinePoint> signals = {}) {
    const auto target = *device_->create_buffer({.bytes = bytes_of(object->desc())});
    const auto commands = device_->create_command_buffer();
    TL_ASSERT_OK(commands->copy_texture_to_buffer(object, target, {.extent = object->extent()}));
    TL_ASSERT_OK(commands->finish());
    TL_ASSERT_OK(queue->submit({{{gate_, 1}}, {commands}, std::move(signals)}));
  }

  std::shared_ptr<CountingDevice> device_ =
      std::make_shared<CountingDevice>(std::make_shared<const DeviceInfo>(null::default_device()));
  std::shared_ptr<Queue> other_ = *device_->create_queue();
  std::shared_ptr<Semaphore> gate_ = std::make_shared<Semaphore>();
  WorkspacePool pool_{*device_};
};

TEST_F(WorkspacePools, WhatAQueueStillUsesServesItsNextSubmission) {
  auto lease = acquire(texture({8, 8}));
  const Texture* object = lease.object().get();
  use_until_gate_opens(lease.object(), device_->queue());
  lease.release();
  EXPECT_FALSE(lease);
  const int calls = driver_calls();
  auto next = acquire(texture({8, 8}));
  EXPECT_EQ(next.object().get(), object);
  EXPECT_FALSE(next.wait());
  EXPECT_EQ(driver_calls(), calls);
  EXPECT_FALSE(device_->queue()->is_idle());
  TL_ASSERT_OK(gate_->signal(1));
}

// Two that live at once never share.
TEST_F(WorkspacePools, WhatIsLentIsNotLentAgain) {
  auto a = acquire(texture({8, 8}));
  auto b = acquire(texture({8, 8}));
  EXPECT_NE(a.object(), b.object());
}

// Its command buffer may be submitted yet, or is under way: nobody said.
TEST_F(WorkspacePools, ADroppedLeaseServesAgainWhenNothingNamesTheObject) {
  auto lease = acquire(texture({8, 8}));
  const Texture* object = lease.object().get();
  auto commands = device_->create_command_buffer();
  const auto target = *device_->create_buffer({.bytes = 1024});
  TL_ASSERT_OK(commands->copy_texture_to_buffer(lease.object(), target, {.extent = {8, 8}}));
  lease = {};
  auto other = acquire(texture({8, 8}));
  EXPECT_NE(other.object().get(), object);
  commands.reset();
  EXPECT_EQ(pass(texture({8, 8})), object);
}

TEST_F(WorkspacePools, AlternatingTallAndWideRequestsKeepTheirTextures) {
  for (int i = 0; i < 100; ++i) {
    pass(texture({64, 16}));
    pass(texture({16, 64}));
    pass(texture({60, 16}));
    pass(texture({16, 60}));
  }
  EXPECT_EQ(driver_calls(), 2);
  const WorkspaceStatistics statistics = pool_.statistics();
  EXPECT_EQ(statistics.requests, 400U);
  EXPECT_EQ(statistics.exact_hits, 198U);
  EXPECT_EQ(statistics.reuses, 200U);
}

TEST_F(WorkspacePools, ExactFitThenLeastAddedThenLeastWasted) {
  auto wide = acquire(texture({20, 10})), exact = acquire(texture({10, 10})),
       large = acquire(texture({12, 12})), low = acquire(texture({10, 7})),
       small = acquire(texture({9, 9}));
  const std::array<const Texture*, 3> order = {exact.object().get(), large.object().get(),
                                               wide.object().get()};
  for (auto* lease : {&exact, &wide, &small, &low, &large}) lease->release();
  std::vector<Lease<Texture>> leases;
  for (const Texture* expected : order) {
    leases.push_back(acquire(texture({10, 10})));
    EXPECT_EQ(leases.back().object().get(), expected);
  }
  const std::uint64_t held = pool_.statistics().bytes_held;
  leases.push_back(acquire(texture({10, 10})));
  EXPECT_EQ(pool_.statistics().growths, 1U);
  EXPECT_EQ(pool_.statistics().bytes_held, held + (100 - 81) * 16);
}

TEST_F(WorkspacePools, ATextureThatGrowsServesBothRequests) {
  pass(texture({12, 10}));
  auto lease = acquire(texture({10, 12}));
  EXPECT_EQ(lease.object()->extent(), (Extent2D{12, 12}));
  EXPECT_EQ(pool_.statistics().growths, 1U);
  EXPECT_EQ(pool_.statistics().bytes_held, 144U * 16);
  EXPECT_EQ(device_->memory->live, 144U * 16);  // the smaller one is gone
  EXPECT_EQ(pool_.statistics().wasted_texels, 144U - 120U);
  const void* object = lease.object().get();
  lease.release();
  EXPECT_EQ(pass(texture({12, 10})), object);
  EXPECT_EQ(pass(texture({10, 12})), object);
}

TEST_F(WorkspacePools, NothingGrowsOverALimitOfTheDevice) {
  // 101 x 101 texels are more than it allows in one allocation, and then more than the bound.
  DeviceInfo info = null::default_device();
  for (const std::uint64_t allocation : {101 * 101 * 16 - 1, 101 * 101 * 16}) {
    info.limits.max_allocation_bytes = allocation;
    CountingDevice device(std::make_shared<const DeviceInfo>(info));
    WorkspacePool pool(device, {.max_bytes = 101 * 101 * 16});
    pool.acquire(device.queue(), texture({101, 100}))->release();
    const auto lease = pool.acquire(device.queue(), texture({100, 101}));
    ASSERT_TRUE(lease.ok()) << lease.status().to_string();
    const bool may_grow = allocation == 101 * 101 * 16;
    EXPECT_EQ(lease->object()->extent(), (may_grow ? Extent2D{101, 101} : Extent2D{100, 101}));
  }
  pool_.set_max_bytes(101 * 101 * 16 - 1);
  pass(texture({101, 100}));
  EXPECT_EQ(acquire(texture({100, 101})).object()->extent(), (Extent2D{100, 101}));
}

TEST_F(WorkspacePools, FormatsUsagesAndKindsDoNotMix) {
  pass(texture({8, 8}));
  pass(texture({8, 8}, TexelFormat::Rgba32Int));
  pass(TextureDesc{.extent = {8, 8}, .usage = TextureUsage::Storage});
  pass(buffer(1024));
  pass(BufferDesc{.bytes = 1024, .usage = BufferUsage::Storage});
  EXPECT_EQ(driver_calls(), 5);
  EXPECT_EQ(pool_.statistics().driver_allocations, 5U);
}

TEST_F(WorkspacePools, BuffersAreRecycledLikeTexturesOfOneRow) {
  const void* object = pass(buffer(1000));
  EXPECT_EQ(pass(buffer(200)), object);
  EXPECT_NE(pass(buffer(199)), object);
  EXPECT_EQ(pool_.statistics().reuses, 1U);
  EXPECT_EQ(pool_.statistics().wasted_texels, 0U);
}

// Whatever the sequence of requests: when it repeats, the driver is called no more after a while.
TEST_F(WorkspacePools, RepeatedRequestsComeToAnEndOfDriverCalls) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 engine(seed);
    std::vector<Extent2D> requests(30);
    for (Extent2D& extent : requests) {
      extent = {1 + static_cast<std::uint32_t>(engine() % 64),
                1 + static_cast<std::uint32_t>(engine() % 64)};
    }
    WorkspacePool pool(*device_);
    std::array<Lease<Texture>, 4> live;
    int calls = 0;
    for (int round = 0; round < 40; ++round) {
      if (round == 20) calls = driver_calls();
      for (std::size_t i = 0; i < requests.size(); ++i) {
        live[i % live.size()].release();
        auto lease = pool.acquire(device_->queue(), texture(requests[i]));
        ASSERT_TRUE(lease.ok());
        const Extent2D extent = lease->object()->extent();
        EXPECT_TRUE(extent.width >= requests[i].width && extent.width <= 5 * requests[i].width);
        EXPECT_TRUE(extent.height >= requests[i].height && extent.height <= 5 * requests[i].height);
        live[i % live.size()] = *std::move(lease);
      }
    }
    EXPECT_EQ(driver_calls(), calls) << "seed " << seed;
  }
}

TEST_F(WorkspacePools, OverTheBoundTheLongestIdleIsFreed) {
  pool_.set_max_bytes(3000);
  const void* old = pass(buffer(100));
  const void* young = pass(BufferDesc{.bytes = 1500, .usage = BufferUsage::Storage});
  pass(TextureDesc{.extent = {10, 9}});  // 1440 bytes: 3040 in all
  EXPECT_EQ(pool_.statistics().bytes_held, 2940U);
  EXPECT_EQ(pass(BufferDesc{.bytes = 1500, .usage = BufferUsage::Storage}), young);
  EXPECT_EQ(device_->memory->live, 2940U) << old;
}

TEST_F(WorkspacePools, OverTheBoundWhatIsLentStays) {
  pool_.set_max_bytes(3000);
  auto lease = acquire(buffer(2000));
  EXPECT_THAT(pool_.acquire(device_->queue(), buffer(1001)).status(),
              fails_with(StatusCode::OutOfMemory,
                         "the workspace pool holds 2000 bytes of at most 3000, and is asked for "
                         "1001 more"));
  EXPECT_EQ(pool_.statistics().bytes_held, 2000U);
  auto other = acquire(buffer(1000));
  // A bound that falls below what is lent takes it back as it comes.
  pool_.set_max_bytes(1500);
  EXPECT_EQ(pool_.statistics().bytes_held, 3000U);
  other.release();
  EXPECT_EQ(pool_.statistics().bytes_held, 2000U);
  lease.release();
  EXPECT_EQ(pool_.statistics().bytes_held, 0U);
  EXPECT_EQ(device_->memory->live, 0U);
}

TEST_F(WorkspacePools, TheBoundIsAShareOfTheDevicesMemory) {
  // 64 MiB, of which 48 may be held: three of the largest allocations.
  const std::uint64_t most = device_->info().limits.max_allocation_bytes;
  std::vector<Lease<Buffer>> leases;
  for (int i = 0; i < 3; ++i) leases.push_back(acquire(buffer(most)));
  EXPECT_EQ(pool_.acquire(device_->queue(), buffer(1)).status().code(), StatusCode::OutOfMemory);
}

TEST_F(WorkspacePools, WhenTheDriverHasNoMoreWhatIsIdleIsFreed) {
  device_->memory->capacity = 3000;
  pass(buffer(400));
  pass(TextureDesc{.extent = {10, 10}});
  auto lease = acquire(buffer(2800));
  EXPECT_EQ(device_->memory->live, 2800U);
  EXPECT_EQ(pool_.statistics().bytes_held, 2800U);
  EXPECT_THAT(pool_.acquire(device_->queue(), buffer(300)).status(),
              fails_with(StatusCode::OutOfMemory, "no more memory"));
  EXPECT_EQ(pool_.statistics().bytes_held, 2800U);
  lease.release();
  pass(BufferDesc{.bytes = 3000, .usage = BufferUsage::Storage});
}

// An allocation of the user's own gets what the device's pool has idle.
TEST_F(WorkspacePools, TheDevicesPoolYieldsToOtherAllocations) {
  device_->memory->capacity = 3000;
  auto lease = device_->workspace_pool().acquire(device_->queue(), buffer(2000));
  ASSERT_TRUE(lease.ok());
  EXPECT_EQ(device_->create_buffer({.bytes = 2000}).status().code(), StatusCode::OutOfMemory);
  lease->release();
  EXPECT_TRUE(device_->create_buffer({.bytes = 2000}).ok());
  EXPECT_EQ(device_->workspace_pool().statistics().bytes_held, 0U);
}

TEST_F(WorkspacePools, TrimFreesByAge) {
  pass(buffer(400));
  std::this_thread::sleep_for(milliseconds(20));
  pass(BufferDesc{.bytes = 100, .usage = BufferUsage::Storage});
  auto lent = acquire(TextureDesc{.extent = {8, 8}});
  EXPECT_EQ(pool_.trim(std::chrono::hours(1)), 0U);
  EXPECT_EQ(pool_.trim(milliseconds(15)), 400U);
  EXPECT_EQ(pool_.trim(), 100U);
  EXPECT_EQ(device_->memory->live, 1024U);
  EXPECT_EQ(pool_.statistics().bytes_held, 1024U);
}

TEST_F(WorkspacePools, WhatHasBeenIdleForLongIsFreed) {
  WorkspacePool pool(*device_, {.max_idle = milliseconds(15)});
  pool.acquire(device_->queue(), buffer(400))->release();
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(pool.statistics().bytes_held, 400U);
  // By a request that has to call the driver, ...
  const auto lent = pool.acquire(device_->queue(), texture({8, 8}));
  EXPECT_EQ(pool.statistics().bytes_held, 1024U);
  // ... and by the release of another object.
  auto other = *pool.acquire(device_->queue(), buffer(10));
  pool.acquire(device_->queue(), buffer(400))->release();
  std::this_thread::sleep_for(milliseconds(20));
  other.release();
  EXPECT_EQ(pool.statistics().bytes_held, 1024U + 10U);
}

// Work on another queue that the object was used by is complete when its point is reached, or
// when its command buffer is gone.
TEST_F(WorkspacePools, AnotherQueueTakesWhatIsComplete) {
  for (const bool with_point : {true, false}) {
    const auto gate = gate_ = std::make_shared<Semaphore>();
    const auto done = std::make_shared<Semaphore>();
    auto lease = acquire(texture({8, 8}));
    // A handle of the caller's own, with which only the point can tell.
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

class BusyElsewhere : public WorkspacePools {
 protected:
  // An object that a queue uses until the gate opens, free again behind `done_`.
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

  std::shared_ptr<Semaphore> done_ = std::make_shared<Semaphore>();
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
}

TEST_F(BusyElsewhere, WhereTheDriverHasNoMoreThePointIsWaitedFor) {
  device_->memory->capacity = device_->memory->live;
  const auto lease = acquire_with(Dependencies::Allowed);
  EXPECT_EQ(lease.object().get(), object_);
  EXPECT_TRUE(lease.wait());
  EXPECT_EQ(pool_.statistics().bytes_held, 1024U);
}

// Though the device's own pool is made to free all that is idle when memory is short.
TEST_F(WorkspacePools, TheDevicesPoolWaitsBeforeItFails) {
  WorkspacePool& pool = device_->workspace_pool();
  const auto done = std::make_shared<Semaphore>();
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

// At the bound it is freed instead, and the driver has it back when the work is complete.
TEST_F(BusyElsewhere, NobodyWaitsUnasked) {
  pool_.set_max_bytes(1024);
  const auto lease = acquire_with(Dependencies::None);
  EXPECT_NE(lease.object().get(), object_);
  EXPECT_FALSE(lease.wait());
}

// A failed semaphore would fail whoever waits for it, and does not say that the work is complete.
TEST_F(BusyElsewhere, NobodyWaitsForAPointThatFailed) {
  pool_.set_max_bytes(1024);
  TL_ASSERT_OK(done_->fail(make_error(StatusCode::DeviceError, "lost")));
  EXPECT_NE(acquire_with(Dependencies::Allowed).object().get(), object_);
}

// The queue that waits for the point may use the object behind it.
TEST_F(BusyElsewhere, AQueueOrderedAllocationWaitsItself) {
  pool_.set_max_bytes(1024);
  const auto ready = std::make_shared<Semaphore>();
  auto lease = pool_.allocate(device_->queue(), texture({8, 8}), {}, {{ready, 1}});
  ASSERT_TRUE(lease.ok()) << lease.status().to_string();
  EXPECT_EQ(lease->object().get(), object_);
  EXPECT_FALSE(lease->wait());
  EXPECT_EQ(*ready->value(), 0U);
  EXPECT_FALSE(device_->queue()->is_idle());
  // Without a signal of the caller's the queue waits as well.
  lease->release();
  lease = pool_.allocate(device_->queue(), texture({8, 8}), {{ready, 2}}, {});
  ASSERT_TRUE(lease.ok());
  TL_ASSERT_OK(gate_->signal(1));
  TL_ASSERT_OK(ready->wait(1));
  EXPECT_FALSE(device_->queue()->is_idle());
  TL_ASSERT_OK(ready->signal(2));
  TL_ASSERT_OK(device_->queue()->wait_idle());
  gate_ = std::make_shared<Semaphore>();
}

TEST_F(WorkspacePools, AQueueOrderedReleaseTakesItsPlaceInTheQueue) {
  auto lease = acquire(texture({8, 8}));
  const Texture* object = lease.object().get();
  use_until_gate_opens(lease.object(), device_->queue(), {});
  const auto freed = std::make_shared<Semaphore>();
  // From now on it is `other_` that has it, behind what it waits for.
  TL_ASSERT_OK(lease.release(other_, {{gate_, 1}}, {{freed, 1}}));
  EXPECT_FALSE(lease);
  const auto next = pool_.acquire(other_, texture({8, 8}));
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(next->object().get(), object);
  EXPECT_EQ(*freed->value(), 0U);
  TL_ASSERT_OK(gate_->signal(1));
  TL_ASSERT_OK(freed->wait(1));
}

TEST_F(WorkspacePools, WhatIsWrongIsRefusedAndChangesNothing) {
  const auto refused = [](const std::string& part) {
    return fails_with(StatusCode::InvalidArgument, part);
  };
  EXPECT_THAT(pool_.acquire(nullptr, buffer(8)).status(), refused("the queue is null"));
  EXPECT_THAT(pool_.allocate(nullptr, texture({8, 8}), {}, {}).status(), refused("queue is null"));
  EXPECT_THAT(pool_.acquire(device_->queue(), buffer(0)).status(), refused("zero bytes"));
  EXPECT_THAT(pool_.acquire(device_->queue(), texture({8, 0})).status(), refused("texture"));
  EXPECT_THAT(pool_.acquire(device_->queue(), texture({1U << 31, 1U << 31})).status(),
              refused("over the limit"));
  auto lease = acquire(texture({8, 8}));
  EXPECT_THAT(lease.release(nullptr, {}, {}), refused("the queue is null"));
  EXPECT_THAT(lease.release(device_->queue(), {{nullptr, 1}}, {}), refused("semaphore is null"));
  EXPECT_TRUE(lease);
  lease.release(TimelinePoint{});
  lease.release();
  EXPECT_THAT(lease.release(device_->queue(), {}, {}), refused("the lease is empty"));
  EXPECT_THAT(pool_.allocate(device_->queue(), texture({8, 8}), {{nullptr, 1}}, {}).status(),
              refused("semaphore is null"));
  EXPECT_EQ(pool_.statistics().bytes_in_use, 0U);
  EXPECT_EQ(pool_.statistics().bytes_held, 1024U);
}

TEST_F(WorkspacePools, ALeaseMayOutliveItsPool) {
  auto pool = std::make_unique<WorkspacePool>(*device_);
  auto released = *pool->acquire(device_->queue(), buffer(100));
  auto dropped = *pool->acquire(device_->queue(), texture({8, 8}));
  pool->acquire(device_->queue(), buffer(400))->release();
  pool.reset();
  EXPECT_EQ(device_->memory->live, 1124U);
  released.release();
  dropped = {};
  EXPECT_EQ(device_->memory->live, 0U);
}

TEST_F(WorkspacePools, Statistics) {
  auto a = acquire(texture({8, 8}));
  a.release();
  a = acquire(texture({4, 8}));
  auto b = acquire(buffer(100));
  const WorkspaceStatistics now = pool_.statistics();
  EXPECT_EQ(now.requests, 3U);
  EXPECT_EQ(now.driver_allocations, 2U);
  EXPECT_EQ(now.reuses, 1U);
  EXPECT_EQ(now.exact_hits, 0U);
  EXPECT_EQ(now.bytes_held, 1124U);
  EXPECT_EQ(now.bytes_in_use, 1124U);
  EXPECT_EQ(now.wasted_texels, 32U);
  a.release();
  b = {};
  pool_.trim();
  const WorkspaceStatistics later = pool_.statistics();
  EXPECT_EQ(later.bytes_held, 0U);
  EXPECT_EQ(later.bytes_in_use, 0U);
  EXPECT_EQ(later.wasted_texels, 0U);
  EXPECT_EQ(later.max_bytes_held, 1124U);
}

// Threads with objects of a few sizes, and one that takes away what is idle: no object is ever lent
// twice at a time.
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

// On a real device: each round's copies go through one texture, though none waits for the others.
class WorkspacePoolOnOpenCl : public OpenClTest {};

TEST_F(WorkspacePoolOnOpenCl, WorkInFlightSharesATexture) {
  constexpr Extent2D kExtent{32, 16};
  constexpr std::uint64_t kBytes = 32 * 16 * 16;
  WorkspacePool& pool = device_->workspace_pool();
  const std::shared_ptr<Queue> queue = device_->queue();
  const auto start = std::make_shared<Semaphore>();
  std::vector<std::shared_ptr<Buffer>> inputs, outputs;
  TL_ASSERT_OK(queue->submit({{{start, 1}}, {}, {{start, 2}}}));
  for (unsigned round = 0; round < 10; ++round) {
    inputs.push_back(make_buffer(kBytes));
    outputs.push_back(make_buffer(kBytes));
    // Queue-ordered every other time.
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
      TL_ASSERT_OK(lease->release(queue, {}, {{std::make_shared<Semaphore>(), 1}}));
    }
  }
  EXPECT_EQ(pool.statistics().driver_allocations, 1U);
  TL_ASSERT_OK(start->signal(1));
  TL_ASSERT_OK(queue->wait_idle());
  for (unsigned round = 0; round < 10; ++round)
    EXPECT_EQ(content_of(outputs[round]), random_bytes(kBytes, round)) << round;
}

// The best of many rounds, which is what the pool takes when the machine does nothing else.
TEST_F(WorkspacePools, ASteadyRequestTakesNoDriverCallAndLessThanAMicrosecond) {
  std::vector<Lease<Texture>> others;
  for (std::uint32_t i = 1; i <= 64; ++i) others.push_back(acquire(texture({8 * i, 5})));
  for (Lease<Texture>& lease : others) lease.release();
  const TextureDesc wanted = texture({256, 5});
  const std::shared_ptr<Queue> queue = device_->queue();
  const int calls = driver_calls();
  double best = 1e9;
  for (int round = 0; round < 50; ++round) {
    constexpr int kRequests = 1000;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kRequests; ++i) pool_.acquire(queue, wanted)->release();
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
    best = std::min(best, time.count() / kRequests);
  }
  EXPECT_EQ(driver_calls(), calls);
  std::cout << "a request and its release, 64 idle textures: " << best << " ns\n";
  if (!kSlowBuild) {
    EXPECT_LT(best, 1000);
  }
}

}  // namespace
}  // namespace texloom::hal
