// Draws submissions: waits, command buffers with tables, signals.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "tests/fuzz/hal/calls.h"
#include "tests/fuzz/hal/kernels.h"

namespace texloom::hal::fuzz {
namespace {

const KernelParam kGroups = BufferParam{.name = "groups", .access = Access::Read, .min_bytes = 12};

// Returns the binding of a slot; false if the table has no such slot.
bool look_up(const Bound& bound, const Table& table, Place& place) {
  if (const auto* given = std::get_if<Place>(&bound)) {
    place = *given;
    return true;
  }
  const BindingSlot& slot = std::get<BindingSlot>(bound);
  if (slot.index >= table.size()) return false;
  place = table[slot.index];
  if (place.texture() != nullptr) return slot.offset == 0;
  if (slot.offset > std::numeric_limits<std::uint64_t>::max() - place.offset) return false;
  place.offset += slot.offset;
  return true;
}

bool fits_calls(const CommandsModel& commands, const Table& table, const DeviceLimits& limits) {
  for (const CallModel& call : commands.calls) {
    const EntryPoint& entry = call.kernels[call.entry]->entry;
    const auto params = memory_params(entry);
    std::vector<Place> places;
    for (std::size_t i = 0; i < params.size(); ++i) {
      Place place;
      if (!look_up(call.bindings[i], table, place) || !takes(*params[i], place, limits))
        return false;
      places.push_back(std::move(place));
    }
    if (has_aliases(entry, places)) return false;
    if (!call.groups) continue;
    Place groups;
    if (!look_up(*call.groups, table, groups) || !holds_groups(groups)) return false;
  }
  return true;
}

// Returns the first use of a slot in the calls.
const KernelParam* find_use(const CommandsModel& commands, std::uint32_t index,
                            std::uint64_t& offset, bool& is_groups) {
  const auto uses = [&](const Bound& bound) {
    const auto* slot = std::get_if<BindingSlot>(&bound);
    if (slot == nullptr || slot->index != index) return false;
    offset = slot->offset;
    return true;
  };
  for (const CallModel& call : commands.calls) {
    const auto params = memory_params(call.kernels[call.entry]->entry);
    for (std::size_t i = 0; i < params.size(); ++i)
      if (uses(call.bindings[i])) return params[i];
    is_groups = call.groups && uses(*call.groups);
    if (is_groups) return &kGroups;
  }
  return nullptr;
}

Argument draw_groups(World& world) {
  const BufferModel buffer = draw_buffer(world, BufferUsage::Indirect);
  Place place;
  if (buffer.handle != nullptr) place.object = buffer.info;
  return {BufferBinding{buffer.handle, 0}, place, buffer.name};
}

// Usually draws a table that fits all calls.
void draw_table(World& world, const CommandsModel& commands, std::vector<Binding>& given,
                Table& table, std::string& text) {
  std::uint32_t slots = 0;
  for (std::uint32_t index = 0; index < 5; ++index) {
    std::uint64_t offset = 0;
    bool is_groups = false;
    if (find_use(commands, index, offset, is_groups) != nullptr) slots = index + 1;
  }
  if (slots > 0 && world.random.chance(5)) --slots;
  if (world.random.chance(10)) ++slots;
  for (std::uint32_t index = 0; index < slots; ++index) {
    std::uint64_t offset = 0;
    bool is_groups = false;
    const KernelParam* param = find_use(commands, index, offset, is_groups);
    if (param == nullptr) param = &kGroups;
    Argument argument =
        is_groups ? draw_groups(world) : draw_argument(world, *param, world.info.limits);
    Place place = std::get<Place>(argument.bound);
    if (auto* buffer = std::get_if<BufferBinding>(&argument.given)) {
      if (buffer->offset >= offset) buffer->offset = place.offset = buffer->offset - offset;
      given.emplace_back(*buffer);
    } else {
      given.emplace_back(std::get<TextureBinding>(argument.given));
    }
    table.push_back(std::move(place));
    text += (text.empty() ? "" : ", ") + argument.text;
  }
}

// Adds a command buffer; returns whether it may be submitted, not counting earlier submissions.
bool add_commands(World& world, SubmissionDraw& draw, const CommandsModel& commands,
                  std::string& text) {
  std::vector<Binding> given;
  Table table;
  std::string table_text;
  draw_table(world, commands, given, table, table_text);
  text += fmt::format(" {}[{}]", commands.name, table_text);
  draw.memories.insert(draw.memories.end(), commands.memories.begin(), commands.memories.end());
  for (const Place& place : table)
    if (!std::holds_alternative<std::monostate>(place.object))
      draw.memories.push_back(memory_of(place));
  draw.given.commands.emplace_back(commands.handle, std::move(given));
  const bool valid =
      commands.finished && !commands.foreign && fits_calls(commands, table, world.info.limits);
  if (!commands.commands.empty())
    draw.model.commands.push_back({commands.commands, std::move(table)});
  return valid;
}

std::vector<std::shared_ptr<CommandsModel>> draw_commands(World& world) {
  std::vector<std::shared_ptr<CommandsModel>> ready;
  for (const auto& each : world.commands)
    if (each->finished && !each->foreign && (each->desc.reusable || !each->submitted))
      ready.push_back(each);
  std::vector<std::shared_ptr<CommandsModel>> drawn;
  for (std::uint64_t count = world.random.below(4); count > 0; --count) {
    const bool any = ready.empty() ? world.random.chance(30) : world.random.chance(5);
    if (any) drawn.push_back(world.random.pick(world.commands));
    if (!any && !ready.empty()) drawn.push_back(world.random.pick(ready));
  }
  return drawn;
}

// Waits for a queue's signal only if a submission has promised the value, so every wait ends.
void draw_waits(World& world, const QueueModel& queue, SubmissionDraw& draw, std::string& text) {
  for (std::uint64_t count = world.random.chance(40) ? world.random.below(3) : 0; count > 0;
       --count) {
    if (world.semaphores.empty()) return;
    const auto& semaphore = world.random.pick(world.semaphores);
    const std::uint64_t value = semaphore->queue ? world.random.below(semaphore->promised + 1)
                                                 : semaphore->value + world.random.below(3);
    text += fmt::format(" wait {}>={}", semaphore->name, value);
    add_wait(draw, queue, {semaphore, value});
  }
}

// A submission that waits for earlier work of its own queue may run even if that work fails: then
// the contents of memory are unknown.
void settle_own_waits(World& world, const QueueModel& queue, const SubmissionDraw& draw) {
  if (draw.model.commands.empty() || queue.synchronized == queue.submitted) return;
  for (const PointModel& wait : draw.model.waits) {
    if (wait.semaphore->queue != queue.number) continue;
    if (wait.semaphore->state(wait.value) != SemaphoreModel::State::Reached) return world.settle();
  }
}

void draw_signals(World& world, const QueueModel& queue, SubmissionDraw& draw, std::string& text) {
  for (const auto& semaphore : world.semaphores) {
    if (semaphore->queue != queue.number || !world.random.chance(50)) continue;
    const std::uint64_t reached = std::max(semaphore->promised, semaphore->value);
    std::uint64_t value = reached + 1 + world.random.below(3);
    if (world.random.chance(4)) value = world.random.below(reached + 1);
    text += fmt::format(" signal {}={}", semaphore->name, value);
    add_signal(draw, {semaphore, value});
  }
}

// Orders a submission after other queues' uses of its memory: by waits, or by settling.
void order(World& world, const QueueModel& queue, SubmissionDraw& draw, std::string& text) {
  for (const std::shared_ptr<Memory>& memory : draw.memories) {
    for (const auto& [number, submission] : memory->uses) {
      const QueueModel* other = world.find_queue(number);
      if (number == queue.number || other == nullptr || submission <= other->synchronized) continue;
      const auto completion = other->completions.lower_bound(submission);
      if (completion == other->completions.end() || world.random.chance(20)) return world.settle();
      const PointModel& point = completion->second;
      text += fmt::format(" wait {}>={}", point.semaphore->name, point.value);
      add_wait(draw, queue, point);
    }
  }
}

}  // namespace

void add_wait(SubmissionDraw& draw, const QueueModel& queue, const PointModel& point) {
  draw.given.waits.push_back({point.semaphore->handle, point.value});
  draw.model.waits.push_back(point);
  draw.crosses |= point.semaphore->queue && point.semaphore->queue != queue.number;
}

void add_signal(SubmissionDraw& draw, const PointModel& point) {
  draw.given.signals.push_back({point.semaphore->handle, point.value});
  draw.model.signals.push_back(point);
}

void note_submission(World& world, QueueModel& queue, SubmissionDraw draw) {
  if (draw.model.waits.empty() && draw.model.commands.empty() && draw.model.signals.empty()) return;
  ++queue.submitted;
  queue.crosses |= draw.crosses;
  for (const auto& memory : draw.memories) memory->uses[queue.number] = queue.submitted;
  for (const PointModel& wait : draw.model.waits)
    wait.semaphore->awaited = std::max(wait.semaphore->awaited, wait.value);
  for (const PointModel& signal : draw.model.signals) {
    if (signal.value > signal.semaphore->promised && signal.value > signal.semaphore->value)
      queue.completions[queue.submitted] = signal;
    signal.semaphore->promised = std::max(signal.semaphore->promised, signal.value);
  }
  draw.model.memories = std::move(draw.memories);
  queue.waiting.push_back(std::move(draw.model));
  world.advance();
}

void draw_submit(World& world) {
  QueueModel& queue = *world.random.pick(world.queues);
  SubmissionDraw draw;
  std::string text;
  bool valid = true;
  bool claims = true;
  const auto chosen = draw_commands(world);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    valid = add_commands(world, draw, *chosen[i], text) && valid;
    const bool again = std::find(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(i),
                                 chosen[i]) != chosen.begin() + static_cast<std::ptrdiff_t>(i);
    if (!chosen[i]->desc.reusable && (chosen[i]->submitted || again)) claims = false;
  }
  valid = valid && claims;
  if (valid) order(world, queue, draw, text);
  draw_waits(world, queue, draw, text);
  settle_own_waits(world, queue, draw);
  draw_signals(world, queue, draw, text);
  if (world.random.chance(2)) {
    text += " a command buffer that is null";
    draw.given.commands.emplace_back(std::shared_ptr<CommandBuffer>());
    valid = false;
  }
  if (world.random.chance(2)) {
    text += " a semaphore that is null";
    (world.random.chance(50) ? draw.given.waits : draw.given.signals).push_back({nullptr, 1});
    valid = false;
  }
  world.call("{}.submit({})", queue.name, text);
  world.expect(queue.handle->submit(std::move(draw.given)), valid);
  if (!valid) return;
  for (const auto& commands : chosen) commands->submitted = true;
  note_submission(world, queue, std::move(draw));
}

}  // namespace texloom::hal::fuzz
