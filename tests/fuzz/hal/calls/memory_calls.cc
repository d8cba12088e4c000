// Draws calls that create, import, divide and release buffers.
#include <algorithm>
#include <cstring>

#include "tests/fuzz/hal/calls.h"
#include "tests/fuzz/hal/ranges.h"

namespace texloom::hal::fuzz {
namespace {

constexpr std::size_t kMostObjects = 14;
constexpr std::uint64_t kLargestBuffer = 600;

BufferUsage without_groups(BufferUsage usage) {
  return static_cast<BufferUsage>(static_cast<std::uint32_t>(usage) &
                                  ~static_cast<std::uint32_t>(BufferUsage::Indirect));
}

BufferUsage draw_usage(World& world) {
  if (world.random.chance(75)) return without_groups(BufferUsage::All);
  return without_groups(static_cast<BufferUsage>(world.random.below(32)));
}

// Draws zero, a size over the limit, or a size small enough to check quickly.
std::uint64_t draw_size(World& world) {
  if (world.random.chance(90)) return world.random.between(1, kLargestBuffer);
  const std::uint64_t limit = world.info.limits.max_allocation_bytes;
  const std::uint64_t edge = world.random.edge();
  return edge > kLargestBuffer && edge <= limit ? limit + 1 : edge;
}

// Buffers of group counts contain small numbers at each multiple of 4 bytes.
Bytes small_numbers(World& world, std::uint64_t bytes) {
  Bytes drawn(bytes);
  for (std::uint64_t i = 0; i + 4 <= bytes; i += 4) {
    const std::uint32_t number = world.random.small(3);
    std::memcpy(drawn.data() + i, &number, 4);
  }
  return drawn;
}

void initialize(World& world, BufferModel& buffer) {
  Memory& memory = *buffer.info.memory;
  memory.bytes = buffer.holds_groups ? small_numbers(world, buffer.info.bytes)
                                     : world.random.bytes(buffer.info.bytes);
  memory.defined = world.info.memory(buffer.info.kind).mappable;
  if (!memory.defined) return;
  world.call("map({}) to initialize it", buffer.name);
  auto mapping = buffer.handle->map(Access::Write);
  world.expect(mapping.status(), true);
  if (world.device.options().debug)
    world.check(mapping->bytes()[0] == std::byte{0xcd}, "debug: no pattern in what is mapped");
  std::copy(memory.bytes.begin(), memory.bytes.end(), mapping->bytes().begin());
  world.expect(mapping->release(), true);
}

std::string describe(const BufferDesc& desc) {
  return fmt::format("{} bytes, usage {}, {}", desc.bytes, static_cast<unsigned>(desc.usage),
                     to_string(desc.memory));
}

}  // namespace

void make_foreign_objects(World& world) {
  Device& other = *world.devices.other;
  const BufferDesc desc{.bytes = 256};
  world.buffers.push_back({.name = "foreign buffer",
                           .handle = *other.create_buffer(desc),
                           .info = {.memory = std::make_shared<Memory>(Bytes(desc.bytes)),
                                    .bytes = desc.bytes,
                                    .foreign = true}});
  const TextureDesc texture{.extent = {8, 8}, .format = TexelFormat::Rgba8UInt};
  world.textures.push_back({.name = "foreign texture",
                            .handle = *other.create_texture(texture),
                            .info = {.memory = std::make_shared<Memory>(Bytes(256)),
                                     .identity = world.next_identity++,
                                     .pitch = 32,
                                     .extent = texture.extent,
                                     .format = texture.format,
                                     .foreign = true}});
  auto commands = std::make_shared<CommandsModel>();
  commands->name = "foreign commands";
  commands->handle = other.create_command_buffer();
  commands->foreign = true;
  world.expect(commands->handle->finish(), true);
  commands->finished = true;
  world.commands.push_back(commands);
}

void draw_create_buffer(World& world) {
  if (world.buffers.size() >= kMostObjects) return draw_release_object(world);
  BufferModel buffer{.name = world.name("buffer "),
                     .handle = {},
                     .info = {.memory = std::make_shared<Memory>()},
                     .holds_groups = world.random.chance(20)};
  BufferDesc desc{.bytes = draw_size(world),
                  .usage = draw_usage(world),
                  .memory = world.random.pick(kAllMemoryKinds)};
  if (buffer.holds_groups)
    desc.usage = BufferUsage::Indirect | BufferUsage::CopyTarget | BufferUsage::CopySource;
  const bool valid = desc.bytes != 0 && desc.bytes <= world.info.limits.max_allocation_bytes;
  world.call("{} = create_buffer({})", buffer.name, describe(desc));
  auto made = world.device.create_buffer(desc);
  world.expect(made.status(), valid,
               desc.bytes == 0 ? StatusCode::InvalidArgument : StatusCode::OutOfMemory);
  if (!valid) return;
  buffer.handle = *made;
  world.check(buffer.handle->desc() == desc, "a buffer is not what was asked for");
  buffer.info.bytes = desc.bytes;
  buffer.info.usage = desc.usage;
  buffer.info.kind = desc.memory;
  initialize(world, buffer);
  world.made.push_back({buffer.handle, {desc.memory, desc.bytes}});
  world.buffers.push_back(std::move(buffer));
}

void draw_import(World& world) {
  if (world.buffers.size() >= kMostObjects) return draw_release_object(world);
  const std::uint64_t bytes = world.random.chance(10) ? 0 : world.random.between(1, kLargestBuffer);
  const std::uint64_t alignment = world.info.limits.import_address_alignment;
  ImportModel import{.memory = std::make_shared<Bytes>(world.random.bytes(bytes + 128))};
  const auto address = reinterpret_cast<std::uintptr_t>(import.memory->data());
  std::uint64_t skipped = (64 - address % 64) % 64;
  const bool aligned = !world.random.chance(15);
  if (!aligned) skipped += 1;
  std::span<std::byte> memory = std::span(*import.memory).subspan(skipped, bytes);
  const bool is_null = world.random.chance(5);
  if (is_null) memory = {};
  const bool valid = bytes != 0 && !is_null && (aligned || alignment == 1);
  BufferModel buffer{
      .name = world.name("buffer "),
      .handle = {},
      .info = {.memory = std::make_shared<Memory>(Bytes(memory.begin(), memory.end())),
               .bytes = bytes,
               .usage = draw_usage(world),
               .kind = MemoryKind::Shared}};
  world.call("{} = import({} bytes{}, usage {})", buffer.name, bytes,
             aligned ? "" : ", not aligned", static_cast<unsigned>(buffer.info.usage));
  auto made = world.device.allocator()->import(
      {.memory = memory,
       .usage = buffer.info.usage,
       .release = [kept = import.memory, count = import.released] { ++*count; }});
  world.expect(made.status(), valid);
  world.check(*import.released == 0, "an import was released while it is in use");
  if (!valid) return;
  buffer.handle = *made;
  world.made.push_back({buffer.handle, {std::nullopt, bytes}});
  world.imports.push_back(std::move(import));
  world.buffers.push_back(std::move(buffer));
}

void draw_subspan(World& world) {
  if (world.buffers.size() >= kMostObjects) return draw_release_object(world);
  const BufferModel whole = world.random.pick(world.buffers);
  BufferModel part = whole;
  part.name = world.name("buffer ");
  std::uint64_t offset = world.random.offset_in(whole.info.bytes);
  if (world.random.chance(60) && offset <= whole.info.bytes) offset = offset / 16 * 16;
  const std::uint64_t bytes = world.random.length_in(offset, whole.info.bytes);
  const bool valid = bytes != 0 && fits(offset, bytes, whole.info.bytes);
  world.call("{} = {}.subspan({}, {})", part.name, whole.name, offset, bytes);
  auto made = whole.handle->subspan(offset, bytes);
  world.expect(made.status(), valid);
  if (!valid) return;
  part.handle = *made;
  part.info.base += offset;
  part.info.bytes = bytes;
  world.check(part.handle->bytes() == bytes && part.handle->base_offset() == part.info.base,
              "a part of a buffer is not where it was cut");
  world.buffers.push_back(std::move(part));
}

void draw_release_object(World& world) {
  const auto is_own = [](const auto& object) { return !object.info.foreign; };
  const auto release = [&](auto& objects) {
    auto& chosen = world.random.pick(objects);
    if (!is_own(chosen)) return;
    world.call("release {}", chosen.name);
    std::swap(chosen, objects.back());
    objects.pop_back();
  };
  if (world.random.chance(60)) {
    release(world.buffers);
  } else {
    release(world.textures);
  }
}

void draw_residency(World& world) {
  const auto draw = [&](const std::string& name, Resident& object, bool valid, StatusCode code) {
    if (world.random.chance(40)) {
      world.call("{}.evict()", name);
      return object.evict();
    }
    world.call("{}.make_resident()", name);
    world.expect(object.make_resident(), valid, code);
  };
  if (!world.executables.empty() && world.random.chance(30)) {
    const ExecutableModel& executable = world.random.pick(world.executables);
    draw(executable.name, *executable.handle, !executable.broken, StatusCode::NotFound);
  } else if (!world.textures.empty() && world.random.chance(40)) {
    const TextureModel& texture = world.random.pick(world.textures);
    if (texture.handle != nullptr) draw(texture.name, *texture.handle, true, StatusCode::Ok);
  } else if (!world.buffers.empty()) {
    const BufferModel& buffer = world.random.pick(world.buffers);
    if (buffer.handle != nullptr) draw(buffer.name, *buffer.handle, true, StatusCode::Ok);
  }
}

}  // namespace texloom::hal::fuzz
