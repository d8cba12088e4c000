#include "tests/fuzz/hal/world.h"

#include <algorithm>
#include <utility>

#include "tests/fuzz/hal/calls.h"

namespace texloom::hal::fuzz {
namespace {

// Whether every point that the submission waits for is reached or failed.
bool can_run(const SubmissionModel& submission) {
  bool open = false;
  for (const PointModel& wait : submission.waits) {
    const auto state = wait.semaphore->state(wait.value);
    if (state == SemaphoreModel::State::Failed) return true;
    open |= state == SemaphoreModel::State::Open;
  }
  return !open;
}

}  // namespace

World::World(Devices given, std::uint64_t seed, Log& lines)
    : devices(std::move(given)),
      device(*devices.device),
      info(device.info()),
      log(lines),
      random(seed) {
  if (!devices.computes) null_before_ = null::statistics(device);
  // All sequences use the device's own queue, so a failure on it would affect other sequences.
  if (!devices.shared) add_queue(*this, device.queue());
  create_queue(*this);
  make_foreign_objects(*this);
}

World::~World() = default;

void World::run(unsigned calls, const std::function<void()>& other_calls) {
  for (unsigned i = 0; i < calls; ++i) {
    if (other_calls) other_calls();
    draw_call(*this);
  }
  settle();
  compare();
  release_everything();
  check_all_released();
}

void World::expect(const Status& status, bool valid, StatusCode code) {
  log.amend(status.ok() ? "ok" : status.to_string());
  if (valid && !status.ok()) throw Failure("a valid call was refused: " + status.to_string());
  if (!valid && status.ok()) throw Failure("misuse was accepted");
  if (valid) return;
  const bool refused = status.code() == code || (code == StatusCode::InvalidArgument &&
                                                 status.code() == StatusCode::Unimplemented);
  if (!refused)
    throw Failure(
        fmt::format("\"{}\" where \"{}\" is documented", status.to_string(), to_string(code)));
  if (status.message().empty()) throw Failure("an error without a message");
}

void World::check(bool holds, const std::string& what) {
  if (!holds) throw Failure(what);
}

QueueModel* World::find_queue(std::uint64_t number) {
  for (const auto& queue : queues)
    if (queue->number == number) return queue.get();
  return nullptr;
}

void World::count(const CommandModel& command) {
  using Kind = CommandModel::Kind;
  if (command.kind == Kind::Dispatch) ++null_expected.dispatches;
  if (command.kind == Kind::Transfer) ++null_expected.transfers;
  if (command.kind == Kind::Native) ++null_expected.native;
  if (command.kind == Kind::Update) ++null_expected.recorded_updates;
}

bool World::run_commands(const SubmissionModel& submission) {
  for (const SubmissionModel::Commands& each : submission.commands) {
    for (const CommandModel& command : each.commands) {
      count(command);
      if (command.run && !command.run(each.table)) return false;
    }
  }
  return true;
}

void World::run_front(QueueModel& queue, bool starts) {
  SubmissionModel submission = std::move(queue.waiting.front());
  queue.waiting.pop_front();
  bool ok =
      starts && std::all_of(submission.waits.begin(), submission.waits.end(), [](const auto& wait) {
        return wait.semaphore->state(wait.value) == SemaphoreModel::State::Reached;
      });
  if (ok && !run_commands(submission)) {
    // Commands that no barrier orders may or may not have run when one of them fails.
    for (const std::shared_ptr<Memory>& memory : submission.memories) memory->defined = false;
    ok = false;
  }
  for (const PointModel& signal : submission.signals) {
    SemaphoreModel& semaphore = *signal.semaphore;
    if (!ok) {
      semaphore.failed = true;
    } else if (semaphore.failed || signal.value <= semaphore.value) {
      ok = false;
    } else {
      semaphore.value = signal.value;
    }
  }
  if (!ok) queue.has_error = true;
}

void World::advance() {
  for (bool progress = true; progress;) {
    progress = false;
    for (const auto& queue : queues) {
      while (!queue->waiting.empty() && can_run(queue->waiting.front())) {
        run_front(*queue);
        progress = true;
      }
    }
  }
}

void World::stop(QueueModel& queue) {
  while (!queue.waiting.empty()) {
    run_front(queue, can_run(queue.waiting.front()));
  }
}

// Returns whether there was a semaphore that submissions wait for.
bool World::open_gates() {
  for (const std::shared_ptr<SemaphoreModel>& semaphore : semaphores) {
    if (semaphore->queue || semaphore->state(semaphore->awaited) != SemaphoreModel::State::Open)
      continue;
    if (random.chance(15)) {
      fail_semaphore(*this, *semaphore);
    } else {
      signal_semaphore(*this, *semaphore, semaphore->awaited);
    }
    return true;
  }
  return false;
}

void World::settle() {
  while (open_gates()) advance();
  for (const auto& queue : queues) {
    check(queue->waiting.empty(), "the model has a submission that nothing can start");
    wait_idle(*this, *queue);
  }
}

void World::settle_for(const Memory& memory) {
  for (const auto& [number, submission] : memory.uses) {
    const QueueModel* queue = find_queue(number);
    if (queue != nullptr && submission > queue->synchronized) return settle();
  }
}

void World::release_everything() {
  log.add("release everything");
  while (!pool.buffers.empty()) pool.buffers.pop_front();
  while (!pool.textures.empty()) pool.textures.pop_front();
  if (!devices.shared && random.chance(30)) devices.device.reset();
  if (random.chance(50)) queues.clear();
  if (random.chance(50)) commands.clear();
  mappings.clear();
  buffers.clear();
  textures.clear();
  executables.clear();
  commands.clear();
  queues.clear();
  const std::vector<std::shared_ptr<SemaphoreModel>> released = std::exchange(semaphores, {});
  for (const auto& semaphore : released) release_semaphore(*this, *semaphore);
}

void World::check_all_released() {
  if (devices.device != nullptr) device.workspace_pool().trim();
  for (const auto& [object, memory] : made)
    check(object.expired(), "an object lives on though every handle is released");
  for (const ImportModel& each : imports)
    check(*each.released == 1,
          fmt::format("an import was released {} times", each.released->load()));
  if (devices.shared || devices.device == nullptr) return;
  const MemoryStatistics statistics = device.allocator()->statistics();
  for (const MemoryKind kind : kAllMemoryKinds)
    check(statistics.of(kind).objects == 0 && statistics.of(kind).bytes == 0,
          fmt::format("{} objects of {} bytes are counted though none is left",
                      statistics.of(kind).objects, statistics.of(kind).bytes));
  check(statistics.imported.objects == 0, "imports are counted though none is left");
}

void World::compare() {
  compare_memory();
  compare_counts();
}

}  // namespace texloom::hal::fuzz
