// Draws copies between buffers and textures.
#include <array>

#include "tests/fuzz/hal/calls.h"
#include "tests/fuzz/hal/ranges.h"

namespace texloom::hal::fuzz {
namespace {

bool is_usable(const BufferModel& buffer, BufferUsage usage) {
  return buffer.handle != nullptr && !buffer.info.foreign && allows(buffer.info.usage, usage);
}
bool is_usable(const TextureModel& texture, TextureUsage usage) {
  return texture.handle != nullptr && !texture.info.foreign && allows(texture.info.usage, usage);
}

std::string describe(Offset2D origin, Extent2D extent) {
  return fmt::format("{} at {}", to_string(extent), to_string(origin));
}

void draw_copy_buffer(World& world) {
  const auto commands = draw_open_commands(world);
  const BufferModel source = draw_buffer(world, BufferUsage::CopySource);
  const BufferModel target =
      world.random.chance(20) && !source.holds_groups && source.handle != nullptr
          ? source
          : draw_buffer(world, BufferUsage::CopyTarget, true);
  const std::uint64_t from = world.random.offset_in(source.info.bytes);
  const std::uint64_t to = world.random.offset_in(target.info.bytes);
  const std::uint64_t bytes = world.random.chance(50)
                                  ? world.random.length_in(from, source.info.bytes)
                                  : world.random.length_in(to, target.info.bytes);
  bool valid = !commands->finished && is_usable(source, BufferUsage::CopySource) &&
               is_usable(target, BufferUsage::CopyTarget) && fits(from, bytes, source.info.bytes) &&
               fits(to, bytes, target.info.bytes);
  const ByteRange read{source.info.memory.get(), source.info.base + from, bytes};
  const ByteRange written{target.info.memory.get(), target.info.base + to, bytes};
  valid = valid && !meet(read, written);
  const std::size_t before = commands->handle->segments().size();
  world.call("{}.copy_buffer({}, {}, {}, {}, {})", commands->name, source.name, from, target.name,
             to, bytes);
  const Status status =
      commands->handle->copy_buffer(source.handle, from, target.handle, to, bytes);
  CommandModel command{.kind = CommandModel::Kind::Transfer};
  if (valid) {
    command.touches = {bytes_touched(*source.info.memory, read.begin, bytes, false),
                       bytes_touched(*target.info.memory, written.begin, bytes, true)};
    commands->memories.push_back(source.info.memory);
    commands->memories.push_back(target.info.memory);
    if (world.devices.computes)
      command.run = [a = source.info.memory, b = target.info.memory, read, written](const Table&) {
        copy_rows({a.get(), read.begin, 0, read.bytes, 1},
                  {b.get(), written.begin, 0, written.bytes, 1});
        b->defined = b->defined && a->defined;
        return true;
      };
  }
  expect_recorded(world, *commands, status, valid, before, bytes == 0, std::move(command));
}

// Draws a rectangle, usually inside the image.
void draw_rectangle(World& world, Extent2D image, Offset2D& origin, Extent2D& extent) {
  origin = {world.random.small(image.width + 1), world.random.small(image.height + 1)};
  extent = {world.random.small(image.width - origin.x + 1),
            world.random.small(image.height - origin.y + 1)};
  if (world.random.chance(4)) origin.x = static_cast<std::uint32_t>(world.random.edge());
  if (world.random.chance(4)) origin.y = static_cast<std::uint32_t>(world.random.edge());
  if (world.random.chance(4)) extent.width = static_cast<std::uint32_t>(world.random.edge());
  if (world.random.chance(4)) extent.height = static_cast<std::uint32_t>(world.random.edge());
}

// Returns the bytes of a region in a buffer, including gaps; nothing if rows overlap.
std::optional<Wide> region_bytes(const BufferTextureRegion& region, std::uint64_t texel) {
  const Wide row = Wide{region.extent.width} * texel;
  if (region.row_pitch != 0 && region.row_pitch < row) return std::nullopt;
  if (region.extent.width == 0 || region.extent.height == 0) return 0;
  const Wide pitch = region.row_pitch == 0 ? row : Wide{region.row_pitch};
  return (region.extent.height - 1) * pitch + row;
}

void draw_copy_rows(World& world) {
  const bool reads_texture = world.random.chance(50);
  const auto commands = draw_open_commands(world);
  const TextureUsage texture_usage =
      reads_texture ? TextureUsage::CopySource : TextureUsage::CopyTarget;
  const BufferUsage buffer_usage =
      reads_texture ? BufferUsage::CopyTarget : BufferUsage::CopySource;
  const TextureModel texture = draw_texture(world, texture_usage);
  const BufferModel buffer = draw_buffer(world, buffer_usage, reads_texture);
  BufferTextureRegion region;
  draw_rectangle(world, texture.info.extent, region.origin, region.extent);
  const std::uint64_t texel = texture.info.texel();
  if (world.random.chance(40))
    region.row_pitch = region.extent.width * texel + world.random.below(9);
  if (world.random.chance(5)) region.row_pitch = world.random.edge();
  const auto bytes = region_bytes(region, texel);
  const std::uint64_t room =
      bytes && *bytes < buffer.info.bytes ? buffer.info.bytes - std::uint64_t(*bytes) : 0;
  region.buffer_offset = world.random.offset_in(room);

  bool valid = !commands->finished && is_usable(texture, texture_usage) &&
               is_usable(buffer, buffer_usage) &&
               fits(region.origin, region.extent, texture.info.extent) && bytes &&
               region.buffer_offset + *bytes <= buffer.info.bytes;
  const bool is_empty = region.extent.width == 0 || region.extent.height == 0;
  Rows texels;
  Rows rows;
  if (valid) {
    texels = rows_of(texture.info, region.origin, region.extent);
    rows = {buffer.info.memory.get(), buffer.info.base + region.buffer_offset,
            region.row_pitch == 0 ? texels.row_bytes : region.row_pitch, texels.row_bytes,
            texels.count};
    // In a view, whole rows count; in a buffer, the gaps between rows count, too.
    valid = is_empty ||
            !conflict(texels_touched(texture.info, region.origin, region.extent, true),
                      bytes_touched(*buffer.info.memory, rows.begin, std::uint64_t(*bytes), false),
                      false);
  }
  const std::size_t before = commands->handle->segments().size();
  world.call("{}.{}({}, {}, {}, offset {}, pitch {})", commands->name,
             reads_texture ? "copy_texture_to_buffer" : "copy_buffer_to_texture",
             reads_texture ? texture.name : buffer.name, reads_texture ? buffer.name : texture.name,
             describe(region.origin, region.extent), region.buffer_offset, region.row_pitch);
  const Status status =
      reads_texture
          ? commands->handle->copy_texture_to_buffer(texture.handle, buffer.handle, region)
          : commands->handle->copy_buffer_to_texture(buffer.handle, texture.handle, region);
  CommandModel command{.kind = CommandModel::Kind::Transfer};
  if (valid && !is_empty) {
    command.touches = {
        bytes_touched(*buffer.info.memory, rows.begin, std::uint64_t(*bytes), reads_texture),
        texels_touched(texture.info, region.origin, region.extent, !reads_texture)};
    commands->memories.push_back(texture.info.memory);
    commands->memories.push_back(buffer.info.memory);
    if (world.devices.computes)
      command.run = [from = reads_texture ? texels : rows, to = reads_texture ? rows : texels,
                     a = texture.info.memory, b = buffer.info.memory](const Table&) {
        copy_rows(from, to);
        to.memory->defined = to.memory->defined && from.memory->defined;
        return true;
      };
  }
  expect_recorded(world, *commands, status, valid, before, is_empty, std::move(command));
}

void draw_copy_texture(World& world) {
  const auto commands = draw_open_commands(world);
  const TextureModel source = draw_texture(world, TextureUsage::CopySource);
  const TextureModel target =
      world.random.chance(25) ? source : draw_texture(world, TextureUsage::CopyTarget);
  Offset2D from;
  Offset2D to;
  Extent2D extent;
  Extent2D other;
  draw_rectangle(world, target.info.extent, to, other);
  draw_rectangle(world, source.info.extent, from, extent);
  if (world.random.chance(70))
    extent = {std::min(extent.width, other.width), std::min(extent.height, other.height)};
  bool valid = !commands->finished && is_usable(source, TextureUsage::CopySource) &&
               is_usable(target, TextureUsage::CopyTarget) &&
               fits(from, extent, source.info.extent) && fits(to, extent, target.info.extent) &&
               source.info.format == target.info.format;
  const bool is_empty = extent.width == 0 || extent.height == 0;
  Rows read;
  Rows written;
  if (valid && !is_empty) {
    read = rows_of(source.info, from, extent);
    written = rows_of(target.info, to, extent);
    valid = source.info.identity == target.info.identity
                ? !meet(read, written)
                : !conflict(texels_touched(source.info, from, extent, false),
                            texels_touched(target.info, to, extent, true), false);
  }
  const std::size_t before = commands->handle->segments().size();
  world.call("{}.copy_texture({}, {}, {}, {})", commands->name, source.name, describe(from, extent),
             target.name, to_string(to));
  const Status status =
      commands->handle->copy_texture(source.handle, from, target.handle, to, extent);
  CommandModel command{.kind = CommandModel::Kind::Transfer};
  if (valid && !is_empty) {
    command.touches = {texels_touched(source.info, from, extent, false),
                       texels_touched(target.info, to, extent, true)};
    commands->memories.push_back(source.info.memory);
    commands->memories.push_back(target.info.memory);
    if (world.devices.computes)
      command.run = [read, written, a = source.info.memory, b = target.info.memory](const Table&) {
        copy_rows(read, written);
        b->defined = b->defined && a->defined;
        return true;
      };
  }
  expect_recorded(world, *commands, status, valid, before, is_empty, std::move(command));
}

}  // namespace

void draw_copy(World& world) {
  constexpr std::array kDraws = {draw_copy_buffer, draw_copy_rows, draw_copy_rows,
                                 draw_copy_texture};
  world.random.pick(kDraws)(world);
}

}  // namespace texloom::hal::fuzz
