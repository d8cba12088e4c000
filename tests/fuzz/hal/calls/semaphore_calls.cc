// Draws calls that create, signal, fail and wait for semaphores, and add callbacks.
#include <algorithm>
#include <array>

#include "tests/fuzz/hal/calls.h"

namespace texloom::hal::fuzz {
namespace {

using State = SemaphoreModel::State;

constexpr std::size_t kMostSemaphores = 7;

void draw_wait_on(World& world, std::vector<TimelinePoint>& given,
                  std::vector<std::pair<State, bool>>& states, std::string& text) {
  const auto& semaphore = world.random.pick(world.semaphores);
  const std::uint64_t most = std::max(semaphore->promised, semaphore->value) + 2;
  const std::uint64_t value =
      world.random.chance(3) ? world.random.edge() : world.random.below(most);
  given.push_back({semaphore->handle, value});
  states.emplace_back(semaphore->state(value), semaphore->queue.has_value());
  text += fmt::format(" {}>={}", semaphore->name, value);
}

bool has(const std::vector<std::pair<State, bool>>& states, State state) {
  return std::any_of(states.begin(), states.end(),
                     [&](const auto& each) { return each.first == state; });
}

Deadline draw_deadline(World& world, bool comes) {
  if (!comes) return after(kImpatience);
  if (world.random.chance(20)) return after(std::chrono::nanoseconds::max());
  return world.random.chance(30) ? Deadline() : after(kPatience);
}

void expect_wait(World& world, const Status& status, bool comes, bool fails) {
  if (!comes) return world.expect(status, false, StatusCode::DeadlineExceeded);
  world.check(status.code() != StatusCode::DeadlineExceeded,
              "what was to be signalled is not: a signal was lost");
  world.expect(status, !fails, status.code());
}

void draw_wait_any(World& world, const std::vector<TimelinePoint>& given,
                   const std::vector<std::pair<State, bool>>& states, const std::string& text) {
  const bool comes = has(states, State::Reached) || has(states, State::Failed);
  world.call("wait_any({})", text);
  const auto first = wait_any(given, draw_deadline(world, comes));
  if (!comes) return world.expect(first.status(), false, StatusCode::DeadlineExceeded);
  // Signals of queues may arrive in any order.
  const auto known = std::find_if(states.begin(), states.end(),
                                  [](const auto& each) { return each.first != State::Open; });
  const bool exact =
      std::none_of(states.begin(), states.end(), [](const auto& each) { return each.second; });
  if (exact) return expect_wait(world, first.status(), true, known->first == State::Failed);
  world.log.amend(first.ok() ? "ok" : first.status().to_string());
  world.check(first.ok() ? states[*first].first == State::Reached : has(states, State::Failed),
              "wait_any returned a semaphore that is not reached");
}

}  // namespace

void draw_create_semaphore(World& world) {
  if (world.semaphores.size() >= kMostSemaphores) return draw_release_semaphore(world);
  auto semaphore = std::make_shared<SemaphoreModel>();
  semaphore->name = world.name("semaphore ");
  semaphore->value = world.random.below(4);
  if (world.random.chance(60)) semaphore->queue = world.random.pick(world.queues)->number;
  world.call("{} = create_semaphore({}), signaled by {}", semaphore->name, semaphore->value,
             semaphore->queue ? world.find_queue(*semaphore->queue)->name : "the host");
  // If a semaphore is of another device or of none, the host waits for it, not the device.
  if (world.random.chance(80)) {
    auto made = (world.random.chance(90) ? world.device : *world.devices.other)
                    .create_semaphore({.value = semaphore->value});
    world.expect(made.status(), true);
    semaphore->handle = *std::move(made);
  } else {
    semaphore->handle = Semaphore::create({.value = semaphore->value});
  }
  if (world.random.chance(5))
    world.expect(semaphore->handle->export_as(ExternalSemaphoreKind::OpaqueFd).status(), false,
                 StatusCode::Unimplemented);
  world.semaphores.push_back(std::move(semaphore));
}

void signal_semaphore(World& world, SemaphoreModel& semaphore, std::uint64_t value) {
  world.call("{}.signal({})", semaphore.name, value);
  const Status status = semaphore.handle->signal(value);
  const bool valid = !semaphore.failed && value > semaphore.value;
  world.expect(status, valid, semaphore.failed ? status.code() : StatusCode::InvalidArgument);
  if (valid) semaphore.value = value;
}

void fail_semaphore(World& world, SemaphoreModel& semaphore) {
  world.call("{}.fail()", semaphore.name);
  world.expect(semaphore.handle->fail(Status(StatusCode::Unavailable, "failed by the host")), true);
  semaphore.failed = true;
}

void draw_signal(World& world) {
  if (world.semaphores.empty()) return;
  SemaphoreModel& semaphore = *world.random.pick(world.semaphores);
  if (world.random.chance(5)) {
    world.call("{}.fail(success)", semaphore.name);
    return world.expect(semaphore.handle->fail(Status()), false);
  }
  if (semaphore.queue) world.settle();
  if (world.random.chance(10)) {
    fail_semaphore(world, semaphore);
  } else {
    const std::uint64_t reached = std::max(semaphore.value, semaphore.promised);
    signal_semaphore(world, semaphore,
                     world.random.chance(20) ? world.random.below(reached + 1)
                                             : reached + 1 + world.random.below(2));
  }
  world.advance();
}

void draw_wait(World& world) {
  if (world.semaphores.empty()) return;
  std::vector<TimelinePoint> given;
  std::vector<std::pair<State, bool>> states;
  std::string text;
  for (std::uint64_t count = world.random.below(4); count > 0; --count)
    draw_wait_on(world, given, states, text);
  if (world.random.chance(4)) {
    given.emplace_back();
    world.call("wait_all and wait_any with a semaphore that is null");
    world.expect(wait_all(given, after(kPatience)), false);
    return world.expect(wait_any(given, after(kPatience)).status(), false);
  }
  if (given.empty()) {
    world.call("wait_all and wait_any for nothing");
    world.expect(wait_all(given), true);
    return world.expect(wait_any(given).status(), false);
  }
  if (world.random.chance(40)) return draw_wait_any(world, given, states, text);
  const bool fails = has(states, State::Failed);
  const bool comes = fails || !has(states, State::Open);
  world.call("wait_all({})", text);
  const Deadline deadline = draw_deadline(world, comes);
  expect_wait(world,
              given.size() == 1 ? given[0].semaphore->wait(given[0].value, deadline)
                                : wait_all(given, deadline),
              comes, fails);
}

void draw_when_reached(World& world) {
  if (world.semaphores.empty()) return;
  SemaphoreModel& semaphore = *world.random.pick(world.semaphores);
  if (!semaphore.callbacks.empty() && world.random.chance(40)) {
    if (semaphore.queue) world.settle();
    const std::size_t place = world.random.below(semaphore.callbacks.size());
    const CallbackModel callback = semaphore.callbacks[place];
    const bool is_open = semaphore.state(callback.value) == State::Open;
    world.call("{}.cancel({})", semaphore.name, callback.number);
    world.check(semaphore.handle->cancel(callback.number) == is_open,
                "cancel says other than whether the callback was called");
    world.check(*callback.calls == (is_open ? 0 : 1), "a callback was called another time");
    semaphore.callbacks.erase(semaphore.callbacks.begin() + static_cast<std::ptrdiff_t>(place));
    return;
  }
  CallbackModel callback{.value = world.random.below(semaphore.promised + semaphore.value + 3)};
  world.call("{}.when_reached({})", semaphore.name, callback.value);
  callback.number = semaphore.handle->when_reached(
      callback.value,
      [calls = callback.calls, handle = std::weak_ptr(semaphore.handle)](const Status&) {
        ++*calls;
        if (const auto itself = handle.lock()) static_cast<void>(itself->value());
      });
  semaphore.callbacks.push_back(std::move(callback));
}

void compare_semaphore(World& world, SemaphoreModel& semaphore) {
  const Result<std::uint64_t> value = semaphore.handle->value();
  world.check(value.ok() != semaphore.failed,
              semaphore.name + (semaphore.failed ? " has not failed" : " has failed"));
  if (value.ok())
    world.check(*value == semaphore.value, fmt::format("{} is at {}, and should be at {}",
                                                       semaphore.name, *value, semaphore.value));
  for (const CallbackModel& callback : semaphore.callbacks) {
    const int expected = semaphore.state(callback.value) == State::Open ? 0 : 1;
    world.check(*callback.calls == expected,
                fmt::format("a callback of {} for {} was called {} times, and should {}",
                            semaphore.name, callback.value, callback.calls->load(), expected));
  }
}

void release_semaphore(World& world, SemaphoreModel& semaphore) {
  const std::weak_ptr<Semaphore> released = semaphore.handle;
  semaphore.handle.reset();
  world.check(released.expired(), semaphore.name + " lives on though every handle is released");
  for (const CallbackModel& callback : semaphore.callbacks)
    world.check(*callback.calls == 1, "a released semaphore has not called its callbacks once");
}

void draw_release_semaphore(World& world) {
  if (world.semaphores.empty()) return;
  world.settle();
  const std::size_t place = world.random.below(world.semaphores.size());
  const std::shared_ptr<SemaphoreModel> semaphore = world.semaphores[place];
  world.call("release {}", semaphore->name);
  world.semaphores.erase(world.semaphores.begin() + static_cast<std::ptrdiff_t>(place));
  release_semaphore(world, *semaphore);
}

}  // namespace texloom::hal::fuzz
