// Draws immediate transfers, and calls of the driver registry, grids and profiles.
#include <algorithm>
#include <array>

#include "runtime/drivers/host/driver.h"
#include "runtime/hal/driver_registry.h"
#include "runtime/hal/transfer.h"
#include "tests/fuzz/hal/calls.h"
#include "tests/fuzz/hal/ranges.h"

namespace texloom::hal::fuzz {
namespace {

void draw_buffer_transfer(World& world) {
  const bool writing = world.random.chance(50);
  const BufferUsage usage = writing ? BufferUsage::CopyTarget : BufferUsage::CopySource;
  const BufferModel buffer = draw_buffer(world, usage, writing);
  const std::uint64_t offset = world.random.offset_in(buffer.info.bytes);
  const std::uint64_t bytes =
      std::min<std::uint64_t>(world.random.length_in(offset, buffer.info.bytes), 1000);
  const bool valid = buffer.handle != nullptr && !buffer.info.foreign &&
                     allows(buffer.info.usage, usage) && fits(offset, bytes, buffer.info.bytes);
  Bytes data = world.random.bytes(bytes);
  world.call("{}_buffer({}, {}, {} bytes)", writing ? "write" : "read", buffer.name, offset, bytes);
  world.expect(writing ? write_buffer(world.device, buffer.handle, offset, data)
                       : read_buffer(world.device, buffer.handle, offset, data),
               valid);
  if (!valid || bytes == 0) return;
  ++(writing ? world.null_expected.recorded_updates : world.null_expected.transfers);
  if (!world.devices.computes) return;
  const auto there =
      buffer.info.memory->bytes.begin() + static_cast<std::ptrdiff_t>(buffer.info.base + offset);
  if (writing) {
    std::copy(data.begin(), data.end(), there);
  } else if (buffer.info.memory->defined) {
    world.check(std::equal(data.begin(), data.end(), there), "read_buffer reads other bytes");
  }
}

void draw_texture_transfer(World& world) {
  const bool writing = world.random.chance(50);
  const TextureUsage usage = writing ? TextureUsage::CopyTarget : TextureUsage::CopySource;
  const TextureModel texture = draw_texture(world, usage);
  TextureRegion region;
  const Extent2D image = texture.info.extent;
  region.origin = {world.random.small(image.width + 1), world.random.small(image.height + 1)};
  region.extent = {world.random.small(image.width - region.origin.x + 1),
                   world.random.small(image.height - region.origin.y + 1)};
  if (world.random.chance(6)) region.extent.width = static_cast<std::uint32_t>(world.random.edge());
  if (world.random.chance(6)) region.origin.y = static_cast<std::uint32_t>(world.random.edge());
  const bool inside = fits(region.origin, region.extent, image);
  std::uint64_t bytes = 0;
  if (inside) bytes = region.extent.width * texture.info.texel() * region.extent.height;
  const bool exact = !world.random.chance(5);
  if (!exact) ++bytes;
  bool valid = texture.handle != nullptr && inside && exact &&
               ((!texture.info.foreign && allows(texture.info.usage, usage)) || bytes == 0);
  Bytes data = world.random.bytes(bytes);
  world.call("{}_texture({}, {} at {}, {} bytes)", writing ? "write" : "read", texture.name,
             to_string(region.extent), to_string(region.origin), bytes);
  world.expect(writing ? write_texture(world.device, texture.handle, region, data)
                       : read_texture(world.device, texture.handle, region, data),
               valid);
  if (!valid || bytes == 0) return;
  ++world.null_expected.recorded_updates;
  ++world.null_expected.transfers;
  if (!writing) {
    --world.null_expected.recorded_updates;
    ++world.null_expected.transfers;
  }
  if (!world.devices.computes) return;
  const Rows texels = rows_of(texture.info, region.origin, region.extent);
  Memory host{.bytes = data};
  const Rows rows{&host, 0, texels.row_bytes, texels.row_bytes, texels.count};
  if (writing) {
    copy_rows(rows, texels);
  } else if (texture.info.memory->defined) {
    copy_rows(texels, rows);
    world.check(host.bytes == data, "read_texture reads other texels");
  }
}

}  // namespace

void draw_transfer(World& world) {
  world.settle();
  if (world.random.chance(50)) {
    draw_buffer_transfer(world);
  } else {
    draw_texture_transfer(world);
  }
}

void draw_registry(World& world) {
  DriverRegistry registry;
  const auto null_driver = []() -> Result<std::shared_ptr<Driver>> {
    return null::create_driver();
  };
  const auto no_driver = []() -> Result<std::shared_ptr<Driver>> {
    return Status(StatusCode::Unavailable, "there is no loader");
  };
  world.call("a registry of drivers");
  world.expect(registry.add("null", null_driver), true);
  world.expect(registry.add("null", null_driver), false);
  world.expect(registry.add("", null_driver), false);
  world.expect(registry.add("a:b", null_driver), false);
  world.expect(registry.add("none", no_driver), true);
  struct Row {
    const char* path;
    StatusCode code;
  };
  constexpr std::array kPaths = {Row{"null", StatusCode::Ok},
                                 Row{"null://", StatusCode::Ok},
                                 Row{"null://0", StatusCode::Ok},
                                 Row{"null://null", StatusCode::Ok},
                                 Row{"null://1", StatusCode::NotFound},
                                 Row{"null://99999999999999999999999", StatusCode::NotFound},
                                 Row{"null://-1", StatusCode::NotFound},
                                 Row{"other://0", StatusCode::NotFound},
                                 Row{"none://0", StatusCode::Unavailable},
                                 Row{"null:0", StatusCode::Ok},
                                 Row{"null:null", StatusCode::Ok},
                                 Row{"null:1", StatusCode::NotFound},
                                 Row{"null:", StatusCode::InvalidArgument},
                                 Row{"null:/0", StatusCode::InvalidArgument},
                                 Row{"://0", StatusCode::InvalidArgument},
                                 Row{"", StatusCode::InvalidArgument}};
  const Row& row = world.random.pick(kPaths);
  world.call("open(\"{}\")", row.path);
  const auto opened = registry.open(row.path);
  world.expect(opened.status(), row.code == StatusCode::Ok, row.code);
  world.check(registry.names() == std::vector<std::string>{"null", "none"},
              "a registry forgets its drivers");
}

void draw_profile(World& world) {
  const std::shared_ptr<Profile> profile = world.device.options().profile;
  if (profile == nullptr) return;
  world.call("look at the profile");
  const ProfileSnapshot now = profile->snapshot();
  for (const ProfileSpan& span : now.spans)
    world.check(span.track < now.tracks.size() && span.begin <= span.end && !span.name.empty() &&
                    span.queue_wait.count() >= 0,
                "a span ends before it begins, or is of no lane");
  world.check(chrome_trace(*profile).ends_with("]}\n"), "a trace has no end");
  if (world.random.chance(30)) profile->clear();
}

void draw_grid(World& world) {
  constexpr std::array kOps = {Size::Op::Add,      Size::Op::Sub, Size::Op::Mul, Size::Op::FloorDiv,
                               Size::Op::FloorMod, Size::Op::Min, Size::Op::Max};
  Size size = Size::symbol(world.random.small(3));
  for (std::uint64_t depth = world.random.below(6); depth > 0; --depth) {
    const Size other = world.random.chance(50)
                           ? Size(static_cast<std::int64_t>(world.random.edge()))
                           : Size::symbol(world.random.small(3));
    size = world.random.chance(50) ? Size::of(world.random.pick(kOps), size, other)
                                   : Size::of(world.random.pick(kOps), other, size);
  }
  const Grid grid = {size, Size(1), Size::of(Size::Op::Add, size, Size(-1))};
  std::vector<std::int64_t> workload(world.random.below(4));
  for (std::int64_t& each : workload) each = static_cast<std::int64_t>(world.random.edge());
  const std::vector<std::string> names = {"n", "m", "k"};
  world.call("groups_of({}, {})", size.text(names), fmt::join(workload, ", "));
  const auto groups = groups_of(grid, workload);
  world.expect(groups.status(), groups.ok());
  if (groups.ok())
    world.check(workload.size() >= workload_count(grid) && (*groups)[1] == 1,
                "a grid has groups without the numbers that it is over");
}

}  // namespace texloom::hal::fuzz
