// Draws dispatches of every kind: with bindings, with slots, over a workload, and indirect.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "tests/fuzz/hal/calls.h"
#include "tests/fuzz/hal/kernels.h"
#include "tests/fuzz/hal/ranges.h"

namespace texloom::hal::fuzz {
namespace {

Argument draw_slot(World& world) {
  BindingSlot slot{.index = world.random.small(5)};
  if (world.random.chance(20)) slot.offset = 16 * world.random.below(3);
  if (world.random.chance(3)) slot.offset = world.random.edge();
  if (world.random.chance(2)) slot.index = ~0U;
  return {slot, slot, fmt::format("slot {}+{}", slot.index, slot.offset)};
}

Constant draw_constant(World& world, ElementType type) {
  const std::uint64_t word = world.random.word();
  switch (type) {
    case ElementType::Int32:
      return Constant(static_cast<std::int32_t>(world.random.chance(60) ? word % 12 : word));
    case ElementType::UInt32:
      return Constant(static_cast<std::uint32_t>(word));
    case ElementType::Int64:
      return Constant(static_cast<std::int64_t>(word));
    case ElementType::UInt64:
      return Constant(word);
    case ElementType::Float32:
      return Constant(static_cast<float>(word % 1000) / 8);
    default:
      return Constant(static_cast<double>(word % 1000) / 8);
  }
}

// One dispatch with everything drawn for it.
struct Draw {
  std::shared_ptr<CommandsModel> commands;
  ExecutableModel executable;
  std::uint32_t entry = 0;
  std::array<std::uint32_t, 3> groups = {1, 1, 1};
  std::vector<Argument> arguments;
  std::vector<Constant> constants;
  bool valid = false;

  const Kernel& kernel() const { return *executable.kernels[entry]; }
  std::string text() const {
    std::string text = fmt::format("{} of {}", entry, executable.name);
    for (const Argument& each : arguments) text += ", " + each.text;
    return text + fmt::format(", {} constants", constants.size());
  }
  template <typename Ref>
  std::vector<Ref> bindings() const {
    std::vector<Ref> all;
    for (const Argument& each : arguments) {
      if (const auto* buffer = std::get_if<BufferBinding>(&each.given)) all.push_back(*buffer);
      if (const auto* texture = std::get_if<TextureBinding>(&each.given)) all.push_back(*texture);
      if constexpr (std::is_same_v<Ref, BindingRef>) {
        if (const auto* slot = std::get_if<BindingSlot>(&each.given)) all.push_back(*slot);
      }
    }
    return all;
  }
};

bool is_valid(const Draw& draw, const DeviceLimits& limits) {
  if (draw.commands->finished || draw.executable.handle == nullptr ||
      draw.entry >= draw.executable.kernels.size())
    return false;
  const EntryPoint& entry = draw.kernel().entry;
  const auto memory = memory_params(entry);
  const auto constants = constant_params(entry);
  if (draw.arguments.size() != memory.size() || draw.constants.size() != constants.size())
    return false;
  for (std::size_t i = 0; i < constants.size(); ++i)
    if (draw.constants[i].type() != constants[i]->type) return false;
  EntryPoint known{.name = entry.name, .params = {}};
  std::vector<Place> places;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const auto* place = std::get_if<Place>(&draw.arguments[i].bound);
    if (place == nullptr) continue;
    if (!takes(*memory[i], *place, limits)) return false;
    known.params.push_back(*memory[i]);
    places.push_back(*place);
  }
  return !has_aliases(known, places);
}

Draw draw_dispatch_arguments(World& world, bool with_slots) {
  Draw draw{
      .commands = draw_open_commands(world), .executable = {}, .arguments = {}, .constants = {}};
  if (world.executables.empty()) draw_create_executable(world);
  if (!world.executables.empty() && !world.random.chance(2))
    draw.executable = world.random.pick(world.executables);
  const std::size_t entries = draw.executable.kernels.size();
  draw.entry = world.random.chance(3) || entries == 0
                   ? static_cast<std::uint32_t>(entries)
                   : world.random.small(static_cast<std::uint32_t>(entries));
  if (draw.entry < entries) {
    for (const KernelParam* param : memory_params(draw.kernel().entry))
      draw.arguments.push_back(with_slots && world.random.chance(50)
                                   ? draw_slot(world)
                                   : draw_argument(world, *param, world.info.limits));
    for (const ConstantParam* param : constant_params(draw.kernel().entry))
      draw.constants.push_back(
          draw_constant(world, world.random.chance(2) ? ElementType::Float64 : param->type));
  }
  if (world.random.chance(2) && !draw.arguments.empty()) draw.arguments.pop_back();
  if (world.random.chance(2)) draw.constants.emplace_back(std::int32_t{1});
  for (std::uint32_t& groups : draw.groups) groups = world.random.small(4);
  if (world.random.chance(50)) draw.groups = {4, 1, 1};
  draw.valid = is_valid(draw, world.info.limits);
  return draw;
}

const Place* place_of(const Bound& bound, const Table& table, Place& resolved) {
  if (const auto* place = std::get_if<Place>(&bound)) return place;
  const BindingSlot& slot = std::get<BindingSlot>(bound);
  resolved = table[slot.index];
  resolved.offset += slot.offset;
  return &resolved;
}

// Returns the effect of the dispatch when it runs.
std::function<bool(const Table&)> effect_of(const Draw& draw, std::optional<Bound> indirect) {
  std::vector<Bound> bindings;
  for (const Argument& each : draw.arguments) bindings.push_back(each.bound);
  return [bindings, indirect, kernel = &draw.kernel(), broken = draw.executable.broken,
          groups = draw.groups, constants = draw.constants](const Table& table) {
    Launch launch{.groups = groups, .places = {}, .constants = constants};
    Place resolved;
    if (indirect) {
      const Place& place = *place_of(*indirect, table, resolved);
      const BufferInfo& buffer = *place.buffer();
      std::memcpy(launch.groups.data(), buffer.memory->bytes.data() + buffer.base + place.offset,
                  12);
      if (std::find(launch.groups.begin(), launch.groups.end(), 0U) != launch.groups.end())
        return true;
    }
    if (broken) return false;
    for (const Bound& bound : bindings) launch.places.push_back(*place_of(bound, table, resolved));
    bool defined = true;
    for (const Place& place : launch.places) defined &= memory_of(place)->defined;
    const auto params = memory_params(kernel->entry);
    for (std::size_t i = 0; i < params.size(); ++i)
      if (writes(access_of(*params[i]))) memory_of(launch.places[i])->defined &= defined;
    return kernel->model(launch);
  };
}

void record(World& world, const Draw& draw, const Status& status, std::size_t before, bool is_empty,
            const std::optional<Bound>& indirect = {}) {
  CommandModel command{.kind = CommandModel::Kind::Dispatch};
  if (draw.valid && !is_empty) {
    const auto params = memory_params(draw.kernel().entry);
    CallModel call{.kernels = draw.executable.kernels, .entry = draw.entry, .groups = indirect};
    bool has_slots = indirect && std::holds_alternative<BindingSlot>(*indirect);
    const auto remember = [&](const Bound& bound) {
      if (const auto* place = std::get_if<Place>(&bound)) {
        draw.commands->memories.push_back(memory_of(*place));
      } else {
        has_slots = true;
      }
    };
    for (std::size_t i = 0; i < params.size(); ++i) {
      command.touches.push_back(touch_of(*params[i], draw.arguments[i].bound));
      call.bindings.push_back(draw.arguments[i].bound);
      remember(draw.arguments[i].bound);
    }
    if (indirect) {
      remember(*indirect);
      command.touches.push_back(touch_of(
          BufferParam{.name = "groups", .access = Access::Read, .min_bytes = 12}, *indirect));
    }
    if (has_slots) draw.commands->calls.push_back(std::move(call));
    if (world.devices.computes) command.run = effect_of(draw, indirect);
  }
  expect_recorded(world, *draw.commands, status, draw.valid, before, is_empty, std::move(command));
}

bool has_zero(const std::array<std::uint32_t, 3>& groups) {
  return std::find(groups.begin(), groups.end(), 0U) != groups.end();
}

void draw_direct(World& world) {
  const Draw draw = draw_dispatch_arguments(world, false);
  const std::size_t before = draw.commands->handle->segments().size();
  world.call("{}.dispatch({}, {}x{}x{} groups)", draw.commands->name, draw.text(), draw.groups[0],
             draw.groups[1], draw.groups[2]);
  const Status status = draw.commands->handle->dispatch(
      draw.executable.handle, draw.entry, draw.groups, draw.bindings<Binding>(), draw.constants);
  record(world, draw, status, before, has_zero(draw.groups));
}

void draw_with_table(World& world) {
  const Draw draw = draw_dispatch_arguments(world, true);
  const std::size_t before = draw.commands->handle->segments().size();
  world.call("{}.dispatch_with_table({}, {}x{}x{} groups)", draw.commands->name, draw.text(),
             draw.groups[0], draw.groups[1], draw.groups[2]);
  const Status status = draw.commands->handle->dispatch_with_table(
      draw.executable.handle, draw.entry, draw.groups, draw.bindings<BindingRef>(), draw.constants);
  record(world, draw, status, before, has_zero(draw.groups));
}

// The grid of "mark" is n by m / 2 + 1; no other kernel has a grid.
void draw_workload(World& world) {
  Draw draw = draw_dispatch_arguments(world, false);
  std::vector<std::int64_t> workload = {std::int64_t(world.random.below(5)),
                                        std::int64_t(world.random.below(5))};
  if (world.random.chance(5)) workload.pop_back();
  if (world.random.chance(5)) workload.push_back(1);
  if (world.random.chance(6) && !workload.empty())
    workload.back() = static_cast<std::int64_t>(world.random.edge());
  if (world.random.chance(5) && !workload.empty()) workload.front() = -3;
  if (draw.valid) draw.valid = draw.kernel().entry.grid.has_value() && workload.size() == 2;
  if (draw.valid) {
    constexpr std::int64_t kMax = std::numeric_limits<std::uint32_t>::max();
    // Half of any int64, rounded down, plus one fits 64 bits.
    const std::int64_t half = workload[1] / 2 - (workload[1] % 2 < 0 ? 1 : 0);
    draw.valid = workload[0] <= kMax && half + 1 <= kMax;
    const auto groups_of = [](std::int64_t count) {
      return static_cast<std::uint32_t>(std::max<std::int64_t>(count, 0));
    };
    draw.groups = {groups_of(workload[0]), groups_of(half + 1), 1};
    // Valid but huge dispatches would run for hours.
    for (std::size_t axis = 0; axis < 3; ++axis)
      draw.valid = draw.valid && draw.groups[axis] <= world.info.limits.max_groups[axis];
    if (draw.valid && !has_zero(draw.groups) &&
        std::uint64_t{draw.groups[0]} * draw.groups[1] > 4096)
      return;
  }
  const std::size_t before = draw.commands->handle->segments().size();
  world.call("{}.dispatch_workload({}, over {})", draw.commands->name, draw.text(),
             fmt::join(workload, ", "));
  const Status status = draw.commands->handle->dispatch_workload(
      draw.executable.handle, draw.entry, workload, draw.bindings<Binding>(), draw.constants);
  record(world, draw, status, before, has_zero(draw.groups));
}

void draw_indirect(World& world) {
  Draw draw = draw_dispatch_arguments(world, world.random.chance(40));
  Argument groups;
  if (world.random.chance(25)) {
    groups = draw_slot(world);
  } else {
    const BufferModel drawn = draw_buffer(world, BufferUsage::Indirect);
    std::uint64_t offset = world.random.offset_in(drawn.info.bytes);
    if (world.random.chance(80) && offset <= drawn.info.bytes) offset = offset / 8 * 4;
    Place place{.offset = offset};
    if (drawn.handle != nullptr) place.object = drawn.info;
    groups = {BufferBinding{drawn.handle, offset}, place, fmt::format("{}+{}", drawn.name, offset)};
    draw.valid = draw.valid && holds_groups(place);
  }
  if (world.random.chance(2) && !world.textures.empty()) {
    groups = {TextureBinding{world.textures.front().handle, {}}, Place{}, "a texture"};
    draw.valid = false;
  }
  const std::size_t before = draw.commands->handle->segments().size();
  world.call("{}.dispatch_indirect({}, groups at {})", draw.commands->name, draw.text(),
             groups.text);
  const Status status =
      draw.commands->handle->dispatch_indirect(draw.executable.handle, draw.entry, groups.given,
                                               draw.bindings<BindingRef>(), draw.constants);
  record(world, draw, status, before, false, groups.bound);
}

}  // namespace

Argument draw_argument(World& world, const KernelParam& param, const DeviceLimits& limits) {
  Argument argument;
  bool texture = std::holds_alternative<TextureParam>(param);
  if (world.random.chance(2)) texture = !texture;
  // Takes the first draw that fits; after a few draws, takes the last one anyway.
  for (unsigned tries = world.random.chance(8) ? 1 : 12; tries > 0; --tries) {
    Place place;
    if (texture) {
      const bool reads = std::holds_alternative<BufferParam>(param) ||
                         std::get<TextureParam>(param).access == Access::Read;
      const TextureModel drawn =
          draw_texture(world, reads ? TextureUsage::Sampled : TextureUsage::Storage);
      const Offset2D origin = {world.random.chance(60) ? 0 : world.random.small(9),
                               world.random.chance(60) ? 0 : world.random.small(6)};
      if (drawn.handle != nullptr) place.object = drawn.info;
      place.origin = origin;
      argument = {TextureBinding{drawn.handle, origin}, place,
                  fmt::format("{} at {}", drawn.name, to_string(origin))};
    } else {
      const BufferModel drawn = draw_buffer(world, BufferUsage::Storage, true);
      std::uint64_t offset = world.random.offset_in(drawn.info.bytes);
      if (world.random.chance(85) && offset <= drawn.info.bytes) offset = offset / 16 * 16;
      if (drawn.handle != nullptr) place.object = drawn.info;
      place.offset = offset;
      argument = {BufferBinding{drawn.handle, offset}, place,
                  fmt::format("{}+{}", drawn.name, offset)};
    }
    if (takes(param, place, limits)) break;
  }
  return argument;
}

bool holds_groups(const Place& place) {
  const BufferInfo* buffer = place.buffer();
  return buffer != nullptr && !buffer->foreign && allows(buffer->usage, BufferUsage::Indirect) &&
         fits(place.offset, 12, buffer->bytes) && (buffer->base + place.offset) % 4 == 0;
}

void draw_dispatch(World& world) {
  constexpr std::array kDraws = {draw_direct,     draw_direct,   draw_with_table,
                                 draw_with_table, draw_workload, draw_indirect};
  world.random.pick(kDraws)(world);
}

}  // namespace texloom::hal::fuzz
