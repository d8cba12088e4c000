// Tests which objects a pool lends and keeps, and when it calls the driver.
#include <array>
#include <chrono>
#include <random>
#include <thread>

#include "tests/runtime/hal/workspace_pool_fixture.h"

namespace texloom::hal {
namespace {

using std::chrono::milliseconds;

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

// Objects lent at the same time are distinct.
TEST_F(WorkspacePools, WhatIsLentIsNotLentAgain) {
  auto a = acquire(texture({8, 8}));
  auto b = acquire(texture({8, 8}));
  EXPECT_NE(a.object(), b.object());
}

// Without a timeline point, an object is reused only when no command buffer names it: a command
// buffer may run later, or still run.
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
  EXPECT_EQ(device_->memory->live, 144U * 16);  // the smaller object is gone
  EXPECT_EQ(pool_.statistics().wasted_texels, 144U - 120U);
  const void* object = lease.object().get();
  lease.release();
  EXPECT_EQ(pass(texture({12, 10})), object);
  EXPECT_EQ(pass(texture({10, 12})), object);
}

TEST_F(WorkspacePools, NothingGrowsOverALimitOfTheDevice) {
  // 101 x 101 texels exceed first the allocation limit, and then the bound.
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

// Whoever asks for zeros gets a buffer that was never lent for anything else.
TEST_F(WorkspacePools, ZeroedBuffersDoNotMixWithOthers) {
  const BufferDesc zeroed{.bytes = 1024, .zeroed = true};
  const void* other = pass(buffer(1024));
  const void* object = pass(zeroed);
  EXPECT_NE(object, other);
  EXPECT_EQ(pass(zeroed), object);
  EXPECT_EQ(pass(buffer(1024)), other);
}

TEST_F(WorkspacePools, BuffersAreRecycledLikeTexturesOfOneRow) {
  const void* object = pass(buffer(1000));
  EXPECT_EQ(pass(buffer(200)), object);
  EXPECT_NE(pass(buffer(199)), object);
  EXPECT_EQ(pool_.statistics().reuses, 1U);
  EXPECT_EQ(pool_.statistics().wasted_texels, 0U);
}

// For any repeated sequence of requests, driver calls eventually stop.
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
  pass(TextureDesc{.extent = {10, 9}});  // 1440 bytes: 3040 in total
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
  // If the bound drops below the lent bytes, objects are freed when they are returned.
  pool_.set_max_bytes(1500);
  EXPECT_EQ(pool_.statistics().bytes_held, 3000U);
  other.release();
  EXPECT_EQ(pool_.statistics().bytes_held, 2000U);
  lease.release();
  EXPECT_EQ(pool_.statistics().bytes_held, 0U);
  EXPECT_EQ(device_->memory->live, 0U);
}

TEST_F(WorkspacePools, TheBoundIsAShareOfTheDevicesMemory) {
  // The device has 64 MiB, and its pool may lend 48 MiB: three of the largest allocations.
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

// The device's pool frees idle memory for the user's own allocations.
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
  // A request that calls the driver frees the idle object.
  const auto lent = pool.acquire(device_->queue(), texture({8, 8}));
  EXPECT_EQ(pool.statistics().bytes_held, 1024U);
  // The release of another object also frees an idle object.
  auto other = *pool.acquire(device_->queue(), buffer(10));
  pool.acquire(device_->queue(), buffer(400))->release();
  std::this_thread::sleep_for(milliseconds(20));
  other.release();
  EXPECT_EQ(pool.statistics().bytes_held, 1024U + 10U);
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

TEST_F(WorkspacePools, ASteadyRequestNeverCallsTheDriver) {
  std::vector<Lease<Texture>> others;
  for (std::uint32_t i = 1; i <= 64; ++i) others.push_back(acquire(texture({8 * i, 5})));
  for (Lease<Texture>& lease : others) lease.release();
  const int calls = driver_calls();
  for (int i = 0; i < 1000; ++i) acquire(texture({256, 5})).release();
  EXPECT_EQ(driver_calls(), calls);
}

}  // namespace
}  // namespace texloom::hal
