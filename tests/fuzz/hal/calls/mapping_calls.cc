// Draws mappings of buffers for the host.
#include <algorithm>
#include <array>

#include "tests/fuzz/hal/calls.h"
#include "tests/fuzz/hal/ranges.h"

namespace texloom::hal::fuzz {
namespace {

constexpr std::size_t kMostMappings = 5;
constexpr std::array kAccesses = {Access::Read, Access::Write, Access::ReadWrite};

std::list<MappingModel>::iterator pick_mapping(World& world) {
  const auto place = static_cast<std::ptrdiff_t>(world.random.below(world.mappings.size()));
  return std::next(world.mappings.begin(), place);
}

// Overwrites all mapped bytes.
void write_all(World& world, MappingModel& mapping) {
  const Bytes bytes = world.random.bytes(mapping.bytes);
  std::copy(bytes.begin(), bytes.end(), mapping.handle.bytes().begin());
  std::copy(bytes.begin(), bytes.end(),
            mapping.memory->bytes.begin() + static_cast<std::ptrdiff_t>(mapping.base));
}

}  // namespace

bool can_map(const World& world, const BufferInfo& buffer, std::uint64_t offset,
             std::uint64_t bytes, Access access) {
  if (!world.info.memory(buffer.kind).mappable || bytes == 0 || !fits(offset, bytes, buffer.bytes))
    return false;
  const ByteRange range{buffer.memory.get(), buffer.base + offset, bytes};
  return std::none_of(world.mappings.begin(), world.mappings.end(), [&](const MappingModel& other) {
    return (writes(access) || writes(other.access)) &&
           meet(range, {other.memory.get(), other.base, other.bytes});
  });
}

void draw_map(World& world) {
  if (world.mappings.size() >= kMostMappings) return draw_release_mapping(world);
  const BufferModel buffer = world.random.pick(world.buffers);
  if (buffer.info.foreign || buffer.holds_groups) return;
  std::uint64_t offset = world.random.offset_in(buffer.info.bytes);
  std::uint64_t bytes = world.random.length_in(offset, buffer.info.bytes);
  const bool whole = world.random.chance(20);
  if (whole) {
    offset = 0;
    bytes = buffer.info.bytes;
  }
  const Access access = world.random.pick(kAccesses);
  const bool valid = can_map(world, buffer.info, offset, bytes, access);
  world.settle_for(*buffer.info.memory);
  MappingModel mapping{.name = world.name("mapping "),
                       .handle = {},
                       .memory = buffer.info.memory,
                       .base = buffer.info.base + offset,
                       .bytes = bytes,
                       .access = access};
  world.call("{} = {}.map({}, {}, {})", mapping.name, buffer.name, offset, bytes,
             to_string(access));
  auto made = whole ? buffer.handle->map(access) : buffer.handle->map(offset, bytes, access);
  world.expect(made.status(), valid);
  if (!valid) return;
  mapping.handle = *std::move(made);
  world.check(mapping.handle.bytes().size() == bytes, "a mapping is not as long as asked for");
  if (access == Access::Write) {
    const auto mapped = mapping.handle.bytes();
    world.check(!world.device.options().debug ||
                    std::all_of(mapped.begin(), mapped.end(),
                                [](std::byte each) { return each == std::byte{0xcd}; }),
                "debug: no pattern in what is mapped");
    write_all(world, mapping);
  }
  world.mappings.push_back(std::move(mapping));
}

void draw_use_mapping(World& world) {
  if (world.mappings.empty()) return;
  MappingModel& mapping = *pick_mapping(world);
  world.settle_for(*mapping.memory);
  if (writes(mapping.access) && world.random.chance(50)) {
    world.call("write {}", mapping.name);
    write_all(world, mapping);
  }
  const std::uint64_t offset = world.random.offset_in(mapping.bytes);
  const std::uint64_t bytes = world.random.length_in(offset, mapping.bytes);
  const bool inside = fits(offset, bytes, mapping.bytes);
  if (world.random.chance(50)) {
    world.call("{}.flush({}, {})", mapping.name, offset, bytes);
    world.expect(mapping.handle.flush(offset, bytes), inside && writes(mapping.access));
  } else {
    world.call("{}.invalidate({}, {})", mapping.name, offset, bytes);
    world.expect(mapping.handle.invalidate(offset, bytes), inside && reads(mapping.access));
  }
}

void draw_release_mapping(World& world) {
  if (world.mappings.empty()) return;
  const auto chosen = pick_mapping(world);
  Mapping mapping = std::move(chosen->handle);
  world.call("release {}", chosen->name);
  if (world.random.chance(60)) {
    world.expect(mapping.release(), true);
    world.expect(mapping.release(), true);
    world.check(mapping.bytes().empty(), "a released mapping has bytes");
    world.expect(mapping.flush(0, 0), false);
    world.expect(mapping.invalidate(0, 1), false);
  }
  world.mappings.erase(chosen);
}

}  // namespace texloom::hal::fuzz
