// Draws calls that create command buffers, record commands without kernels, and finish them.
#include <algorithm>
#include <array>

#include "runtime/drivers/host/native.h"
#include "tests/fuzz/hal/calls.h"
#include "tests/fuzz/hal/ranges.h"

namespace texloom::hal::fuzz {
namespace {

constexpr std::size_t kMostCommands = 8;
constexpr std::size_t kMostReadbacks = 60;
constexpr std::array kBarriers = {Barriers::Automatic, Barriers::Automatic, Barriers::Explicit,
                                  Barriers::Checked};

std::string_view to_string(Barriers barriers) {
  if (barriers == Barriers::Automatic) return "automatic";
  return barriers == Barriers::Explicit ? "explicit" : "checked";
}

bool is_usable(const BufferModel& buffer, BufferUsage usage) {
  return buffer.handle != nullptr && !buffer.info.foreign && allows(buffer.info.usage, usage);
}

// There must be a barrier between two commands if one writes what the other accesses.
void check_barriers(World& world, const CommandsModel& commands) {
  std::vector<Touch> touched;
  auto command = commands.commands.begin();
  const auto forgets = [](CommandModel::Kind kind) {
    return kind == CommandModel::Kind::Barrier || kind == CommandModel::Kind::HostCall;
  };
  for (const Segment& segment : commands.handle->segments()) {
    if (std::holds_alternative<BarrierSegment>(segment)) {
      touched.clear();
      if (command != commands.commands.end() && command->kind == CommandModel::Kind::Barrier)
        ++command;
      continue;
    }
    world.check(command != commands.commands.end(), "there are more segments than commands");
    if (forgets(command->kind)) touched.clear();
    for (const Touch& touch : command->touches)
      for (const Touch& before : touched)
        world.check(!conflict(before, touch, true),
                    commands.name + ": no barrier where one command needs another");
    touched.insert(touched.end(), command->touches.begin(), command->touches.end());
    ++command;
  }
}

void draw_fill(World& world) {
  const auto commands = draw_open_commands(world);
  const BufferModel target = draw_buffer(world, BufferUsage::CopyTarget, true);
  const std::uint64_t offset = world.random.offset_in(target.info.bytes);
  const std::uint64_t bytes = world.random.length_in(offset, target.info.bytes);
  constexpr std::array<std::size_t, 4> kPatterns = {1, 2, 4, 4};
  const Bytes pattern = world.random.bytes(world.random.chance(5) ? world.random.below(6)
                                                                  : world.random.pick(kPatterns));
  const bool pattern_ok = pattern.size() == 1 || pattern.size() == 2 || pattern.size() == 4;
  const bool valid = !commands->finished && pattern_ok &&
                     is_usable(target, BufferUsage::CopyTarget) &&
                     fits(offset, bytes, target.info.bytes);
  const std::size_t before = commands->handle->segments().size();
  world.call("{}.fill({}, {}, {}, pattern of {})", commands->name, target.name, offset, bytes,
             pattern.size());
  const Status status = commands->handle->fill(target.handle, offset, bytes, pattern);
  CommandModel command{.kind = CommandModel::Kind::Transfer};
  if (valid) {
    const std::uint64_t begin = target.info.base + offset;
    command.touches = {bytes_touched(*target.info.memory, begin, bytes, true)};
    commands->memories.push_back(target.info.memory);
    if (world.devices.computes)
      command.run = [memory = target.info.memory, begin, bytes, pattern](const Table&) {
        for (std::uint64_t i = 0; i < bytes; ++i)
          memory->bytes[begin + i] = pattern[i % pattern.size()];
        return true;
      };
  }
  expect_recorded(world, *commands, status, valid, before, bytes == 0, std::move(command));
}

void draw_update(World& world) {
  const auto commands = draw_open_commands(world);
  const bool groups = world.random.chance(15);
  BufferModel target = draw_buffer(world, BufferUsage::CopyTarget, !groups);
  const std::uint64_t offset = world.random.offset_in(target.info.bytes);
  std::uint64_t bytes = world.random.length_in(offset, target.info.bytes);
  bytes = std::min<std::uint64_t>(bytes, 1000);
  if (target.holds_groups) bytes = 0;
  // Borrowed memory must live as long as the command.
  auto data = std::make_shared<Bytes>(world.random.bytes(bytes));
  const bool borrowed = world.random.chance(40);
  const bool valid = !commands->finished && is_usable(target, BufferUsage::CopyTarget) &&
                     fits(offset, bytes, target.info.bytes);
  const std::size_t before = commands->handle->segments().size();
  world.call("{}.update({}, {}, {} bytes, {})", commands->name, target.name, offset, bytes,
             borrowed ? "borrowed" : "copied");
  Status status;
  if (borrowed) {
    status = commands->handle->update(target.handle, offset, *data, HostMemory::Borrowed);
    world.borrowed.push_back(data);
  } else {
    Bytes gone = *data;
    status = commands->handle->update(target.handle, offset, gone);
    std::fill(gone.begin(), gone.end(), std::byte{0});
  }
  CommandModel command{.kind = CommandModel::Kind::Update};
  if (valid) {
    const std::uint64_t begin = target.info.base + offset;
    command.touches = {bytes_touched(*target.info.memory, begin, bytes, true)};
    commands->memories.push_back(target.info.memory);
    if (world.devices.computes)
      command.run = [memory = target.info.memory, begin, data](const Table&) {
        std::copy(data->begin(), data->end(),
                  memory->bytes.begin() + static_cast<std::ptrdiff_t>(begin));
        return true;
      };
  }
  expect_recorded(world, *commands, status, valid, before, bytes == 0, std::move(command));
}

void draw_readback(World& world) {
  const auto commands = draw_open_commands(world);
  if (world.readbacks.size() >= kMostReadbacks) return;
  const BufferModel source = draw_buffer(world, BufferUsage::CopySource);
  const std::uint64_t offset = world.random.offset_in(source.info.bytes);
  const std::uint64_t bytes =
      std::min<std::uint64_t>(world.random.length_in(offset, source.info.bytes), 1000);
  const bool valid = !commands->finished && is_usable(source, BufferUsage::CopySource) &&
                     fits(offset, bytes, source.info.bytes);
  Readback readback{.name = world.name("readback "),
                    .expected = std::make_shared<Memory>(Bytes(bytes)),
                    .actual = std::make_shared<Bytes>(bytes)};
  const std::size_t before = commands->handle->segments().size();
  world.call("{}.readback({}, {}, {} bytes of {})", commands->name, source.name, offset, bytes,
             readback.name);
  const Status status = commands->handle->readback(source.handle, offset, *readback.actual);
  CommandModel command{.kind = CommandModel::Kind::Transfer};
  if (valid) {
    const std::uint64_t begin = source.info.base + offset;
    command.touches = {bytes_touched(*source.info.memory, begin, bytes, false)};
    commands->memories.push_back(source.info.memory);
    commands->memories.push_back(readback.expected);
    if (world.devices.computes)
      command.run = [memory = source.info.memory, begin, to = readback.expected](const Table&) {
        std::copy_n(memory->bytes.begin() + static_cast<std::ptrdiff_t>(begin), to->bytes.size(),
                    to->bytes.begin());
        to->defined = to->defined && memory->defined;
        return true;
      };
    world.readbacks.push_back(std::move(readback));
  }
  expect_recorded(world, *commands, status, valid, before, bytes == 0, std::move(command));
}

void draw_barrier(World& world) {
  const auto commands = draw_open_commands(world);
  const std::size_t before = commands->handle->segments().size();
  world.call("{}.barrier()", commands->name);
  const Status status = commands->handle->barrier();
  const bool valid = !commands->finished;
  expect_recorded(world, *commands, status, valid, before, false, CommandModel{});
}

// Records a native command that sets the bytes of a buffer, or fails.
void draw_native(World& world) {
  const auto commands = draw_open_commands(world);
  const BufferModel target = draw_buffer(world, BufferUsage::Storage, true);
  const std::uint64_t offset = world.random.offset_in(target.info.bytes);
  const std::uint64_t bytes = world.random.length_in(offset, target.info.bytes);
  const bool is_empty = world.random.chance(5);
  const bool fails = world.random.chance(15);
  const bool valid = !commands->finished && !is_empty && is_usable(target, BufferUsage::Storage) &&
                     fits(offset, bytes, target.info.bytes);
  const std::uint64_t touched = bytes != 0 || !valid ? bytes : target.info.bytes - offset;
  const auto value = static_cast<std::byte>(world.random.below(256));
  HostCallModel call{.name = world.name("native call ")};
  const std::size_t before = commands->handle->segments().size();
  world.call("{}.native({} to {}, {}, {} bytes{})", commands->name,
             is_empty ? "nothing" : call.name, target.name, offset, bytes,
             fails ? ", which fails" : "");
  EncodeNative function;
  if (!is_empty)
    function = [calls = call.calls, touched, value, fails](const NativeCommands& native) {
      ++*calls;
      if (fails) return Status(StatusCode::Unavailable, "a native call that fails");
      std::fill_n(host::native_memory(std::get<BoundBuffer>(native.memory[0])), touched, value);
      return Status();
    };
  const std::array accesses = {
      NativeAccess{BufferBinding{target.handle, offset}, Access::Write, bytes, {}}};
  const Status status = commands->handle->native(accesses, std::move(function));
  CommandModel command{.kind = CommandModel::Kind::Native};
  if (valid) {
    const std::uint64_t begin = target.info.base + offset;
    if (touched != 0) command.touches = {bytes_touched(*target.info.memory, begin, touched, true)};
    commands->memories.push_back(target.info.memory);
    if (world.devices.computes)
      command.run = [memory = target.info.memory, expected = call.expected, begin, touched, value,
                     fails](const Table&) {
        ++*expected;
        if (fails) return false;
        std::fill_n(memory->bytes.begin() + static_cast<std::ptrdiff_t>(begin), touched, value);
        return true;
      };
    world.host_calls.push_back(std::move(call));
  }
  expect_recorded(world, *commands, status, valid, before, false, std::move(command));
}

void draw_host_call(World& world) {
  const auto commands = draw_open_commands(world);
  const bool is_empty = world.random.chance(8);
  const bool fails = world.random.chance(20);
  HostCallModel host_call{.name = world.name("host call ")};
  const bool names = world.random.chance(50);  // memory
  const BufferModel named = draw_buffer(world, BufferUsage::Storage);
  const bool valid = !commands->finished && !is_empty &&
                     (!names || (named.handle != nullptr && !named.info.foreign));
  const std::size_t before = commands->handle->segments().size();
  world.call("{}.host_call({}{}{})", commands->name, is_empty ? "nothing" : host_call.name,
             names ? " with " + named.name : "", fails ? ", which fails" : "");
  std::function<Status()> function;
  if (!is_empty)
    function = [calls = host_call.calls, fails] {
      ++*calls;
      return fails ? Status(StatusCode::Unavailable, "a host call that fails") : Status();
    };
  const std::array<BindingRef, 1> memory = {BufferBinding{named.handle}};
  std::function<Status(const HostCallMemory&)> with_memory;
  if (!is_empty)
    with_memory = [function, handle = named.handle.get()](const HostCallMemory& given) {
      const auto& seen = std::get<BufferBinding>(given.named[0]);
      return seen.buffer.get() == handle ? function()
                                         : Status(StatusCode::Internal, "other memory");
    };
  const Status status = names ? commands->handle->host_call_with_table(memory, with_memory)
                              : commands->handle->host_call(function);
  CommandModel command{.kind = CommandModel::Kind::HostCall};
  command.run = [expected = host_call.expected, fails](const Table&) {
    ++*expected;
    return !fails;
  };
  if (valid) world.host_calls.push_back(std::move(host_call));
  expect_recorded(world, *commands, status, valid, before, false, std::move(command));
}

}  // namespace

BufferModel draw_buffer(World& world, BufferUsage usage, bool for_writing) {
  if (world.random.chance(2)) return {.name = "null", .handle = {}, .info = {}};
  std::vector<const BufferModel*> fitting;
  std::vector<const BufferModel*> all;
  for (const BufferModel& each : world.buffers) {
    if (for_writing && each.holds_groups) continue;
    all.push_back(&each);
    if (is_usable(each, usage)) fitting.push_back(&each);
  }
  if (fitting.empty() || world.random.chance(4)) return *world.random.pick(all);
  return *world.random.pick(fitting);
}

std::shared_ptr<CommandsModel> draw_open_commands(World& world) {
  std::vector<std::shared_ptr<CommandsModel>> open;
  for (const auto& each : world.commands)
    if (!each->finished) open.push_back(each);
  if (open.empty()) {
    draw_create_commands(world);
    return world.commands.back();
  }
  return world.random.pick(world.random.chance(3) ? world.commands : open);
}

void expect_recorded(World& world, CommandsModel& commands, const Status& status, bool valid,
                     std::size_t segments_before, bool is_empty, CommandModel command) {
  world.expect(status, valid);
  const std::size_t added = commands.handle->segments().size() - segments_before;
  const bool automatic = commands.desc.barriers == Barriers::Automatic;
  if (!valid || is_empty) {
    world.check(added == 0, "a command that was refused or is empty was recorded");
    return;
  }
  world.check(added == 1 || (added == 2 && automatic), "a command is not one segment");
  if (command.kind == CommandModel::Kind::Barrier || command.kind == CommandModel::Kind::HostCall)
    commands.touched.clear();
  for (const Touch& touch : command.touches)
    for (const Touch& before : commands.touched)
      commands.lacks_barrier |= conflict(before, touch, automatic);
  commands.touched.insert(commands.touched.end(), command.touches.begin(), command.touches.end());
  const bool is_barrier = command.kind == CommandModel::Kind::Barrier;
  commands.commands.push_back(std::move(command));
  // If the caller records barriers, add one wherever needed, including for slots that share memory.
  if (automatic || is_barrier || !world.devices.computes) return;
  world.call("{}.barrier()", commands.name);
  world.expect(commands.handle->barrier(), true);
  commands.touched.clear();
}

void draw_create_commands(World& world) {
  if (world.commands.size() >= kMostCommands) {
    // The first command buffer stays: it belongs to another device.
    const std::size_t place = 1 + world.random.below(world.commands.size() - 1);
    world.call("release {}", world.commands[place]->name);
    world.commands.erase(world.commands.begin() + static_cast<std::ptrdiff_t>(place));
  }
  auto commands = std::make_shared<CommandsModel>();
  commands->name = world.name("commands ");
  commands->desc = {.reusable = world.random.chance(50), .barriers = world.random.pick(kBarriers)};
  world.call("{} = create_command_buffer({}, barriers {})", commands->name,
             commands->desc.reusable ? "reusable" : "for one submission",
             to_string(commands->desc.barriers));
  commands->handle = world.device.create_command_buffer(commands->desc);
  world.commands.push_back(std::move(commands));
}

void draw_record(World& world) {
  constexpr std::array kDraws = {draw_fill,    draw_fill,      draw_update,
                                 draw_update,  draw_readback,  draw_readback,
                                 draw_barrier, draw_host_call, draw_native};
  world.random.pick(kDraws)(world);
}

void draw_finish(World& world) {
  const auto commands = draw_open_commands(world);
  const bool checked = commands->desc.barriers == Barriers::Checked;
  const bool valid = !commands->finished && !(checked && commands->lacks_barrier);
  world.call("{}.finish()", commands->name);
  world.expect(commands->handle->finish(), valid);
  commands->finished = commands->finished || valid;
  world.check(commands->handle->finished() == commands->finished,
              "a command buffer is finished, or not, against what finish() says");
  if (valid && !world.info.features.in_order_commands &&
      commands->desc.barriers == Barriers::Automatic)
    check_barriers(world, *commands);
  // A command buffer that can never be finished is useless.
  if (!commands->finished) std::erase(world.commands, commands);
}

}  // namespace texloom::hal::fuzz
