// Checks that objects contain what the model expects once a sequence has settled.
#include <algorithm>

#include "runtime/hal/transfer.h"
#include "tests/fuzz/hal/calls.h"
#include "tests/fuzz/hal/ranges.h"
#include "tests/fuzz/hal/world.h"

namespace texloom::hal::fuzz {
namespace {

void compare_bytes(World& world, const std::string& name, std::span<const std::byte> actual,
                   std::span<const std::byte> expected) {
  const auto [a, e] = std::mismatch(actual.begin(), actual.end(), expected.begin());
  if (a == actual.end()) return;
  world.check(false,
              fmt::format("{}: byte {} of {} is {}, and should be {}", name, a - actual.begin(),
                          actual.size(), static_cast<int>(*a), static_cast<int>(*e)));
}

void compare_buffer(World& world, const BufferModel& buffer) {
  const BufferInfo& info = buffer.info;
  const std::span<const std::byte> expected =
      std::span(info.memory->bytes).subspan(info.base, info.bytes);
  const bool reads = world.devices.computes && allows(info.usage, BufferUsage::CopySource);
  if (reads && world.random.chance(50)) {
    Bytes actual(info.bytes);
    world.call("read_buffer({}) to compare", buffer.name);
    world.expect(read_buffer(world.device, buffer.handle, 0, actual), true);
    compare_bytes(world, buffer.name, actual, expected);
  } else if (can_map(world, info, 0, info.bytes, Access::Read)) {
    world.call("map({}) to compare", buffer.name);
    auto mapping = buffer.handle->map(Access::Read);
    world.expect(mapping.status(), true);
    compare_bytes(world, buffer.name, mapping->bytes(), expected);
  }
}

void compare_texture(World& world, const TextureModel& texture) {
  const TextureInfo& info = texture.info;
  if (!world.devices.computes || !allows(info.usage, TextureUsage::CopySource)) return;
  Bytes expected;
  const Rows rows = rows_of(info, {}, info.extent);
  for (std::uint64_t y = 0; y < rows.count; ++y) {
    const auto row =
        info.memory->bytes.begin() + static_cast<std::ptrdiff_t>(rows.begin + y * rows.pitch);
    expected.insert(expected.end(), row, row + static_cast<std::ptrdiff_t>(rows.row_bytes));
  }
  Bytes actual(expected.size());
  world.call("read_texture({}) to compare", texture.name);
  world.expect(read_texture(world.device, texture.handle, {{}, info.extent}, actual), true);
  compare_bytes(world, texture.name, actual, expected);
}

}  // namespace

void World::compare_memory() {
  for (const BufferModel& buffer : buffers)
    if (!buffer.info.foreign && buffer.info.memory->defined) compare_buffer(*this, buffer);
  for (const TextureModel& texture : textures)
    if (!texture.info.foreign && texture.info.memory->defined) compare_texture(*this, texture);
  for (const MappingModel& mapping : mappings)
    if (mapping.memory->defined)
      compare_bytes(*this, mapping.name, mapping.handle.bytes(),
                    std::span(mapping.memory->bytes).subspan(mapping.base, mapping.bytes));
  if (!devices.computes) return;
  for (const Readback& readback : readbacks)
    if (readback.expected->defined)
      compare_bytes(*this, readback.name, *readback.actual, readback.expected->bytes);
}

void World::compare_counts() {
  for (const HostCallModel& each : host_calls)
    check(*each.calls == *each.expected,
          fmt::format("{} was called {} times, and should {}", each.name, each.calls->load(),
                      *each.expected));
  for (const auto& semaphore : semaphores) compare_semaphore(*this, *semaphore);
  for (const ImportModel& each : imports)
    check(*each.released <= 1, "an import was released twice");
  if (devices.shared) return;
  if (!devices.computes) {
    const null::Statistics now = null::statistics(device);
    const auto counted = [&](std::uint64_t null::Statistics::* member, const char* what) {
      const std::uint64_t difference = now.*member - null_before_.*member;
      check(devices.native_waits ? difference >= null_expected.*member
                                 : difference == null_expected.*member,
            fmt::format("{} {} ran, and should {}", difference, what, null_expected.*member));
    };
    counted(&null::Statistics::dispatches, "dispatches");
    counted(&null::Statistics::transfers, "transfers");
    counted(&null::Statistics::native, "native commands");
    counted(&null::Statistics::recorded_updates, "updates");
  }
  std::uint64_t bytes = device.workspace_pool().statistics().bytes_held;
  std::uint64_t imported = 0;
  for (const auto& [object, memory] : made) {
    if (object.expired()) continue;
    (memory.first ? bytes : imported) += memory.second;
  }
  std::uint64_t counted = 0;
  const MemoryStatistics statistics = device.allocator()->statistics();
  for (const MemoryCount& kind : statistics.kinds) {
    counted += kind.bytes;
    check(kind.peak_bytes >= kind.bytes && kind.peak_objects >= kind.objects,
          "the peak is less than what there is");
  }
  check(counted == bytes, fmt::format("{} bytes are counted, and should {}", counted, bytes));
  check(statistics.imported.bytes == imported,
        fmt::format("{} imported bytes are counted, and should {}", statistics.imported.bytes,
                    imported));
}

}  // namespace texloom::hal::fuzz
