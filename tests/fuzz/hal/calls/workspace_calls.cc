// Draws calls of the workspace pool: acquire objects, use them in a queue, release or drop them.
#include <algorithm>
#include <array>
#include <utility>

#include "tests/fuzz/hal/calls.h"

namespace texloom::hal::fuzz {
namespace {

constexpr std::size_t kMostLeases = 6;
constexpr std::uint64_t kBound = 3000;

std::uint64_t bytes_of(const Buffer& buffer) { return buffer.bytes(); }
std::uint64_t bytes_of(const Texture& texture) {
  return std::uint64_t{texture.extent().width} * texture.extent().height *
         bytes_per_texel(texture.format());
}

template <class Object>
std::list<LeaseModel<Object>>& leases(World& world) {
  if constexpr (std::is_same_v<Object, Buffer>) {
    return world.pool.buffers;
  } else {
    return world.pool.textures;
  }
}

void check_statistics(World& world) {
  if (world.devices.shared) return;
  std::uint64_t in_use = 0;
  for (const auto& each : world.pool.buffers) in_use += bytes_of(*each.lease.object());
  for (const auto& each : world.pool.textures) in_use += bytes_of(*each.lease.object());
  const WorkspaceStatistics now = world.device.workspace_pool().statistics();
  world.check(
      now.bytes_in_use == in_use,
      fmt::format("{} bytes of the pool are in use, and should {}", now.bytes_in_use, in_use));
  world.check(now.bytes_held >= now.bytes_in_use && now.max_bytes_held >= now.bytes_held,
              "the pool holds less than what is in use");
  world.check(now.exact_hits + now.reuses + now.driver_allocations == world.pool.served,
              "requests that the pool served are neither hits nor allocations");
  world.check(now.requests == world.pool.requests,
              "the pool counts other requests than there were");
  if (world.pool.textures.empty())
    world.check(now.wasted_texels == 0, "texels are wasted though no texture is lent");
}

// The object must have at least the requested size, and at most five times as much.
void check_extent(World& world, const Buffer& object, const BufferDesc& desc) {
  world.check(object.bytes() >= desc.bytes && object.bytes() <= 5 * desc.bytes,
              "the pool lends a buffer of another size");
  world.check(object.desc().usage == desc.usage && object.desc().memory == desc.memory,
              "the pool lends a buffer of another kind");
}
void check_extent(World& world, const Texture& object, const TextureDesc& desc) {
  const auto fits = [](std::uint64_t there, std::uint64_t wanted) {
    return there >= wanted && there <= 5 * wanted;
  };
  world.check(fits(object.extent().width, desc.extent.width) &&
                  fits(object.extent().height, desc.extent.height) &&
                  object.format() == desc.format,
              "the pool lends a texture of another size");
}

template <class Object, class Desc>
void acquire(World& world, const Desc& desc, bool valid,
             StatusCode refusal = StatusCode::InvalidArgument) {
  QueueModel& queue = *world.random.pick(world.queues);
  const bool is_null = world.random.chance(4);
  const bool in_order = world.random.chance(25);
  const auto dependencies = world.random.chance(30) ? Dependencies::Allowed : Dependencies::None;
  const std::shared_ptr<Queue> given = is_null ? nullptr : queue.handle;
  // An object may come with a point that a queue signals only after a gate opens.
  world.settle();
  SubmissionDraw draw;
  if (in_order) {
    auto semaphore = std::make_shared<SemaphoreModel>();
    semaphore->handle = *world.device.create_semaphore();
    semaphore->queue = queue.number;
    add_signal(draw, {semaphore, 1});
  }
  LeaseModel<Object> lease{.name = world.name("lease "), .lease = {}, .queue = &queue};
  world.call("{} = {}({}, {})", lease.name, in_order ? "allocate" : "acquire",
             is_null ? "null" : queue.name, valid ? "an object" : "a wrong extent");
  WorkspacePool& pool = world.device.workspace_pool();
  auto made = in_order ? pool.allocate(given, desc, {}, draw.given.signals)
                       : pool.acquire(given, desc, dependencies);
  if (!is_null) ++world.pool.requests;
  if (valid && !is_null && world.pool.is_bounded && made.status().code() == StatusCode::OutOfMemory)
    return world.log.amend("out of memory");
  world.expect(made.status(), valid && !is_null, is_null ? StatusCode::InvalidArgument : refusal);
  if (!made.ok()) return;
  ++world.pool.served;
  lease.lease = *std::move(made);
  check_extent(world, *lease.lease.object(), desc);
  for (const auto& other : leases<Object>(world))
    world.check(other.lease.object() != lease.lease.object(), "the pool lends one object twice");
  if (in_order) note_submission(world, queue, std::move(draw));
  leases<Object>(world).push_back(std::move(lease));
  check_statistics(world);
}

// Fills a buffer on its first use; reads the buffer on every use.
void use(World& world, LeaseModel<Buffer>& lease) {
  const std::shared_ptr<Buffer>& buffer = lease.lease.object();
  const auto commands = world.device.create_command_buffer();
  SubmissionDraw draw;
  SubmissionModel::Commands model;
  world.settle();
  world.call("use {} on {}", lease.name, lease.queue->name);
  if (const auto& wait = lease.lease.wait()) draw.given.waits.push_back(*wait);
  if (lease.memory == nullptr) {
    lease.memory = std::make_shared<Memory>(
        Bytes(buffer->bytes(), static_cast<std::byte>(world.random.below(256))));
    world.expect(commands->fill(buffer, 0, buffer->bytes(), {lease.memory->bytes.data(), 1}), true);
    model.commands.push_back({.kind = CommandModel::Kind::Transfer, .touches = {}, .run = {}});
  }
  Readback readback{.name = world.name("readback "),
                    .expected = std::make_shared<Memory>(lease.memory->bytes),
                    .actual = std::make_shared<Bytes>(buffer->bytes())};
  world.expect(commands->readback(buffer, 0, *readback.actual), true);
  model.commands.push_back({.kind = CommandModel::Kind::Transfer, .touches = {}, .run = {}});
  world.expect(commands->finish(), true);
  draw.given.commands.emplace_back(commands);
  draw.model.commands.push_back(std::move(model));
  world.expect(lease.queue->handle->submit(std::move(draw.given)), true);
  world.readbacks.push_back(std::move(readback));
  note_submission(world, *lease.queue, std::move(draw));
}

// Releases the lease in one of four ways.
template <class Object>
void release(World& world, LeaseModel<Object>& lease) {
  switch (world.random.below(4)) {
    case 0:
      world.call("drop {}", lease.name);
      lease.lease = {};
      break;
    case 1:
      world.call("{}.release()", lease.name);
      lease.lease.release();
      break;
    case 2: {
      world.call("{}.release(complete)", lease.name);
      auto complete = std::make_shared<SemaphoreModel>();
      complete->handle = *world.device.create_semaphore();
      complete->queue = lease.queue->number;
      SubmissionDraw draw;
      add_signal(draw, {complete, 1});
      world.expect(lease.queue->handle->submit(draw.given), true);
      note_submission(world, *lease.queue, std::move(draw));
      lease.lease.release(TimelinePoint{complete->handle, 1});
      break;
    }
    default: {
      // Any queue may take the lease, so its earlier uses must be complete.
      world.settle();
      const QueueModel& queue = *world.random.pick(world.queues);
      world.call("{}.release({})", lease.name, queue.name);
      world.expect(lease.lease.release(nullptr, {}, {}), false);
      world.expect(lease.lease.release(queue.handle, {}, {}), true);
      world.expect(lease.lease.release(queue.handle, {}, {}), false);
      break;
    }
  }
  world.check(!lease.lease, "a released lease has an object");
}

template <class Object>
void release_one(World& world) {
  auto& all = leases<Object>(world);
  if (all.empty()) return;
  const auto chosen =
      std::next(all.begin(), static_cast<std::ptrdiff_t>(world.random.below(all.size())));
  release(world, *chosen);
  all.erase(chosen);
  check_statistics(world);
}

}  // namespace

void World::release_leases(const QueueModel& queue) {
  const auto is_of_queue = [&](const auto& lease) { return lease.queue == &queue; };
  pool.buffers.remove_if(is_of_queue);
  pool.textures.remove_if(is_of_queue);
}

void draw_acquire(World& world) {
  if (world.pool.buffers.size() + world.pool.textures.size() >= kMostLeases)
    return draw_release_lease(world);
  const bool valid = !world.random.chance(8);
  if (world.random.chance(60)) {
    BufferDesc desc{.bytes = world.random.between(1, 400),
                    .memory = world.random.chance(70) ? MemoryKind::Device : MemoryKind::Shared};
    if (!valid)
      desc.bytes = world.random.chance(50) ? 0 : world.info.limits.max_allocation_bytes + 1;
    acquire<Buffer>(world, desc, valid,
                    desc.bytes == 0 ? StatusCode::InvalidArgument : StatusCode::OutOfMemory);
  } else {
    TextureDesc desc{.extent = {1 + world.random.small(10), 1 + world.random.small(6)},
                     .format = TexelFormat::Rgba8UInt};
    if (!valid) desc.extent.height = world.random.chance(50) ? 0 : ~0U;
    acquire<Texture>(world, desc, valid);
  }
}

void draw_use_lease(World& world) {
  if (world.pool.buffers.empty()) return;
  const auto place = static_cast<std::ptrdiff_t>(world.random.below(world.pool.buffers.size()));
  use(world, *std::next(world.pool.buffers.begin(), place));
}

void draw_release_lease(World& world) {
  if (world.random.chance(60)) {
    release_one<Buffer>(world);
  } else {
    release_one<Texture>(world);
  }
}

void draw_pool_control(World& world) {
  WorkspacePool& pool = world.device.workspace_pool();
  const std::uint64_t held = pool.statistics().bytes_held;
  if (world.random.chance(60)) {
    const auto idle_for = std::chrono::nanoseconds(world.random.chance(50) ? 0 : -5);
    world.call("trim()");
    const std::uint64_t freed = pool.trim(idle_for);
    world.check(world.devices.shared || pool.statistics().bytes_held == held - freed,
                "trim frees other than what it says");
    return;
  }
  if (world.devices.shared) return;
  world.pool.is_bounded = world.random.chance(70);
  const std::uint64_t bound = world.pool.is_bounded ? world.random.below(kBound) : ~0ULL;
  world.call("set_max_bytes({})", bound);
  pool.set_max_bytes(bound);
  const WorkspaceStatistics now = pool.statistics();
  world.check(now.bytes_held <= bound || now.bytes_held == now.bytes_in_use,
              "what is idle is kept beyond the bound");
}

}  // namespace texloom::hal::fuzz
