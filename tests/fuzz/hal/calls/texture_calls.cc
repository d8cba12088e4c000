// Draws textures and views over buffers.
#include <algorithm>

#include "runtime/hal/transfer.h"
#include "tests/fuzz/hal/calls.h"
#include "tests/fuzz/hal/ranges.h"

namespace texloom::hal::fuzz {
namespace {

constexpr std::size_t kMostTextures = 10;

TexelFormat draw_format(World& world) {
  return world.random.chance(60) ? TexelFormat::Rgba8UInt : world.random.pick(kAllTexelFormats);
}

TextureUsage draw_usage(World& world) {
  if (world.random.chance(75)) return TextureUsage::All;
  return static_cast<TextureUsage>(world.random.below(16));
}

TextureDesc draw_desc(World& world) {
  TextureDesc desc{.extent = {1 + world.random.small(12), 1 + world.random.small(9)},
                   .format = draw_format(world),
                   .usage = draw_usage(world)};
  if (world.random.chance(4)) desc.extent.width = 0;
  if (world.random.chance(4)) desc.extent.height = world.info.limits.max_image_height + 1;
  if (world.random.chance(2)) desc.extent = {~0U, ~0U};
  if (world.random.chance(3)) desc.kind = TextureKind::Image2DArray;
  if (world.random.chance(3)) desc.layers = world.random.small(3);
  return desc;
}

bool is_valid(const TextureDesc& desc, const DeviceLimits& limits) {
  return desc.kind == TextureKind::Image2D && desc.layers == 1 && desc.extent.width != 0 &&
         desc.extent.height != 0 && desc.extent.width <= limits.max_image_width &&
         desc.extent.height <= limits.max_image_height;
}

std::string describe(const TextureDesc& desc) {
  return fmt::format("{} of {}, usage {}{}{}", to_string(desc.extent), to_string(desc.format),
                     static_cast<unsigned>(desc.usage),
                     desc.kind == TextureKind::Image2D ? "" : ", an array",
                     desc.layers == 1 ? "" : fmt::format(", {} layers", desc.layers));
}

// If the memory cannot be written, its contents stay undefined and are never compared.
void initialize(World& world, TextureModel& texture, Memory& memory) {
  memory.bytes = world.random.bytes(texture.info.pitch * texture.info.extent.height);
  memory.defined = world.devices.computes && allows(texture.info.usage, TextureUsage::CopyTarget);
  if (!memory.defined) return;
  world.settle();
  world.call("write_texture({}) to initialize it", texture.name);
  world.expect(write_texture(world.device, texture.handle, {{}, texture.info.extent}, memory.bytes),
               true);
}

}  // namespace

void draw_create_texture(World& world) {
  if (world.textures.size() >= kMostTextures) return draw_release_object(world);
  const TextureDesc desc = draw_desc(world);
  const bool valid = is_valid(desc, world.info.limits);
  TextureModel texture{.name = world.name("texture "), .handle = {}, .info = {}};
  world.call("{} = create_texture({})", texture.name, describe(desc));
  auto made = world.device.create_texture(desc);
  world.expect(made.status(), valid);
  if (!valid) return;
  texture.handle = *made;
  texture.info = {.memory = std::make_shared<Memory>(),
                  .identity = world.next_identity++,
                  .pitch = std::uint64_t{desc.extent.width} * bytes_per_texel(desc.format),
                  .extent = desc.extent,
                  .format = desc.format,
                  .usage = desc.usage};
  initialize(world, texture, *texture.info.memory);
  world.made.push_back(
      {texture.handle, {MemoryKind::Device, texture.info.pitch * desc.extent.height}});
  world.textures.push_back(std::move(texture));
}

void draw_create_view(World& world) {
  if (world.textures.size() >= kMostTextures) return draw_release_object(world);
  const DeviceLimits& limits = world.info.limits;
  const BufferModel buffer = world.random.pick(world.buffers);
  const bool is_null = world.random.chance(3);
  TextureViewDesc desc{.texture = draw_desc(world)};
  const std::uint64_t texel = bytes_per_texel(desc.texture.format);
  const std::uint64_t pitch_step = limits.view_pitch_alignment * texel;
  const std::uint64_t smallest = (desc.texture.extent.width + limits.view_pitch_alignment - 1) /
                                 limits.view_pitch_alignment * pitch_step;
  if (world.random.chance(80) && smallest != 0 && smallest < buffer.info.bytes)
    desc.texture.extent.height = 1 + world.random.small(static_cast<std::uint32_t>(
                                         std::min<std::uint64_t>(buffer.info.bytes / smallest, 9)));
  if (world.random.chance(40)) desc.row_pitch = smallest + pitch_step * world.random.below(3);
  if (world.random.chance(5)) desc.row_pitch = world.random.edge();
  if (world.random.chance(40)) desc.offset = world.random.offset_in(buffer.info.bytes);
  if (world.random.chance(70) && desc.offset <= buffer.info.bytes)
    desc.offset = desc.offset / 64 * 64;

  const std::uint64_t pitch = desc.row_pitch == 0 ? smallest : desc.row_pitch;
  const Wide bytes = Wide{desc.texture.extent.height} * pitch;
  const std::uint64_t begin = buffer.info.base + desc.offset;
  const bool valid = is_valid(desc.texture, limits) && !is_null && !buffer.info.foreign &&
                     allows(buffer.info.usage, BufferUsage::View) && pitch >= smallest &&
                     pitch % pitch_step == 0 && desc.offset + bytes <= buffer.info.bytes &&
                     begin % (limits.view_base_alignment * texel) == 0 &&
                     begin % limits.buffer_offset_alignment == 0;
  TextureModel texture{.name = world.name("texture "), .handle = {}, .info = {}};
  world.call("{} = create_view({}, {}, offset {}, pitch {})", texture.name,
             is_null ? "null" : buffer.name, describe(desc.texture), desc.offset, desc.row_pitch);
  auto made = world.device.allocator()->create_view(is_null ? nullptr : buffer.handle, desc);
  world.expect(made.status(), valid);
  if (!valid) return;
  texture.handle = *made;
  texture.info = {.memory = buffer.info.memory,
                  .identity = world.next_identity++,
                  .is_view = true,
                  .base = begin,
                  .pitch = pitch,
                  .extent = desc.texture.extent,
                  .format = desc.texture.format,
                  .usage = desc.texture.usage};
  world.textures.push_back(std::move(texture));
}

TextureModel draw_texture(World& world, TextureUsage usage) {
  if (world.random.chance(2)) return {.name = "null", .handle = {}, .info = {}};
  std::vector<const TextureModel*> fitting;
  for (const TextureModel& each : world.textures)
    if (!each.info.foreign && allows(each.info.usage, usage)) fitting.push_back(&each);
  if (fitting.empty() || world.random.chance(4)) return world.random.pick(world.textures);
  return *world.random.pick(fitting);
}

}  // namespace texloom::hal::fuzz
