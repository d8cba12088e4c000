// Draws calls that create queues, wait for them, and release them with pending work.
#include <algorithm>
#include <utility>

#include "tests/fuzz/hal/calls.h"

namespace texloom::hal::fuzz {
namespace {

constexpr std::size_t kMostQueues = 4;

// A wait that must end may have no deadline: the watchdog detects a hang.
Deadline draw_patience(World& world) {
  return world.random.chance(40) ? Deadline() : after(kPatience);
}

}  // namespace

void add_queue(World& world, std::shared_ptr<Queue> queue) {
  auto model = std::make_unique<QueueModel>();
  model->name = world.name("queue ");
  model->handle = std::move(queue);
  model->number = world.next_identity++;
  world.queues.push_back(std::move(model));
}

void create_queue(World& world) {
  world.call("create_queue()");
  auto made = world.device.create_queue();
  world.expect(made.status(), true);
  add_queue(world, *std::move(made));
}

void draw_create_queue(World& world) {
  if (world.queues.size() < kMostQueues) create_queue(world);
}

void draw_release_queue(World& world) {
  if (world.queues.size() < 2) return;
  const auto chosen = world.queues.begin() + 1 +
                      static_cast<std::ptrdiff_t>(world.random.below(world.queues.size() - 1));
  QueueModel& queue = **chosen;
  // Signals of other queues may come before or after the release.
  if (queue.crosses) world.settle();
  world.release_leases(queue);
  world.call("release {} with {} submissions waiting", queue.name, queue.waiting.size());
  world.stop(queue);
  const std::weak_ptr<Queue> released = queue.handle;
  queue.handle.reset();
  world.check(released.expired(), "a queue lives on though every handle is released");
  for (const auto& semaphore : world.semaphores)
    if (semaphore->queue == queue.number) semaphore->queue.reset();
  world.queues.erase(chosen);
  world.advance();
}

void wait_idle(World& world, QueueModel& queue) {
  const Deadline deadline = draw_patience(world);
  world.call("{}.wait_idle({})", queue.name, deadline ? "with a deadline" : "");
  const Status status = queue.handle->wait_idle(deadline);
  world.check(status.code() != StatusCode::DeadlineExceeded,
              "a queue is not idle though nothing is left to wait for: a signal was lost");
  world.expect(status, !std::exchange(queue.has_error, false), status.code());
  world.check(queue.handle->is_idle(), "a queue is not idle after wait_idle");
  queue.synchronized = queue.submitted;
  queue.crosses = false;
  queue.completions.clear();
}

void draw_wait_idle(World& world) {
  QueueModel& queue = *world.random.pick(world.queues);
  if (queue.waiting.empty()) return wait_idle(world, queue);
  world.call("{}.wait_idle(), which must not come", queue.name);
  world.expect(queue.handle->wait_idle(after(kImpatience)), false, StatusCode::DeadlineExceeded);
  world.check(!queue.handle->is_idle(), "a queue is idle though a submission waits");
}

}  // namespace texloom::hal::fuzz
