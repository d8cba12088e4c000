#include "tests/fuzz/hal/kernels.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "tests/fuzz/hal/ranges.h"

namespace texloom::hal::fuzz {
namespace {

using host::WorkGroup;

constexpr std::uint32_t kElements = 4;  // in buffers that declare 16 bytes
constexpr std::uint32_t kMarks = 8;

std::uint64_t number_of(const WorkGroup& group) {
  return group.id[0] + std::uint64_t{group.groups[0]} *
                           (group.id[1] + std::uint64_t{group.groups[1]} * group.id[2]);
}
std::uint64_t count_of(const Launch& launch) {
  return std::uint64_t{launch.groups[0]} * launch.groups[1] * launch.groups[2];
}

std::uint32_t load(const Place& place, std::uint64_t i) {
  std::uint32_t value = 0;
  const BufferInfo& buffer = *place.buffer();
  std::memcpy(&value, buffer.memory->bytes.data() + buffer.base + place.offset + 4 * i, 4);
  return value;
}
void store(const Place& place, std::uint64_t i, std::uint32_t value) {
  const BufferInfo& buffer = *place.buffer();
  std::memcpy(buffer.memory->bytes.data() + buffer.base + place.offset + 4 * i, &value, 4);
}
template <typename T>
T value_of(const Constant& constant) {
  T value;
  std::memcpy(&value, constant.data(), sizeof value);
  return value;
}

Status nothing(const WorkGroup&) { return {}; }
bool nothing_model(const Launch&) { return true; }

Status failing(const WorkGroup&) { return Status(StatusCode::DeviceError, "this kernel fails"); }
bool failing_model(const Launch&) { return false; }

Status add(const WorkGroup& group) {
  const std::uint64_t i = number_of(group);
  if (i < kElements)
    group.buffer<std::uint32_t>(1)[i] = group.buffer<std::uint32_t>(0)[i] +
                                        static_cast<std::uint32_t>(group.constant<std::int32_t>(2));
  return {};
}
bool add_model(const Launch& launch) {
  const auto k = static_cast<std::uint32_t>(value_of<std::int32_t>(launch.constants[0]));
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count_of(launch), kElements); ++i)
    store(launch.places[1], i, load(launch.places[0], i) + k);
  return true;
}

Status advance(const WorkGroup& group) {
  const std::uint64_t i = number_of(group);
  const auto x = group.buffer<std::uint32_t>(0);
  if (i < kElements) x[i] = x[i] * 3 + static_cast<std::uint32_t>(group.constant<std::int32_t>(1));
  return {};
}
bool advance_model(const Launch& launch) {
  const auto k = static_cast<std::uint32_t>(value_of<std::int32_t>(launch.constants[0]));
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count_of(launch), kElements); ++i)
    store(launch.places[0], i, load(launch.places[0], i) * 3 + k);
  return true;
}

// The kernel declares no size for its buffer, so it may use all bytes that are bound.
Status mark(const WorkGroup& group) {
  const std::uint64_t i = number_of(group);
  const auto x = group.buffer<std::uint32_t>(0);
  if (i < std::min<std::uint64_t>(kMarks, x.size()))
    x[i] = group.constant<std::uint32_t>(1) + static_cast<std::uint32_t>(i);
  return {};
}
bool mark_model(const Launch& launch) {
  const BufferInfo& buffer = *launch.places[0].buffer();
  const std::uint64_t there = (buffer.bytes - launch.places[0].offset) / 4;
  const auto k = value_of<std::uint32_t>(launch.constants[0]);
  const std::uint64_t count = std::min({count_of(launch), there, std::uint64_t{kMarks}});
  for (std::uint64_t i = 0; i < count; ++i)
    store(launch.places[0], i, k + static_cast<std::uint32_t>(i));
  return true;
}

Status constants(const WorkGroup& group) {
  if (number_of(group) != 0) return {};
  const auto out = group.buffer<std::uint64_t>(0);
  out[0] = static_cast<std::uint32_t>(group.constant<std::int32_t>(1));
  out[1] = group.constant<std::uint32_t>(2);
  out[2] = static_cast<std::uint64_t>(group.constant<std::int64_t>(3));
  out[3] = group.constant<std::uint64_t>(4);
  out[4] = std::bit_cast<std::uint32_t>(group.constant<float>(5));
  out[5] = std::bit_cast<std::uint64_t>(group.constant<double>(6));
  return {};
}
bool constants_model(const Launch& launch) {
  for (std::size_t i = 0; i < launch.constants.size(); ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, launch.constants[i].data(), byte_size(launch.constants[i].type()));
    store(launch.places[0], 2 * i, static_cast<std::uint32_t>(bits));
    store(launch.places[0], 2 * i + 1, static_cast<std::uint32_t>(bits >> 32));
  }
  return true;
}

Status copy_texels(const WorkGroup& group) {
  const auto [x, y, z] = group.id;
  if (x < 2 && y < 2 && z == 0)
    group.texture(1).image.write<std::uint32_t>(x, y,
                                                group.texture(0).image.read<std::uint32_t>(x, y));
  return {};
}
bool copy_texels_model(const Launch& launch) {
  const TextureInfo& in = *launch.places[0].texture();
  const TextureInfo& out = *launch.places[1].texture();
  for (std::uint32_t y = 0; y < std::min(launch.groups[1], 2U); ++y)
    for (std::uint32_t x = 0; x < std::min(launch.groups[0], 2U); ++x)
      std::memcpy(out.memory->bytes.data() + out.at(x, y), in.memory->bytes.data() + in.at(x, y),
                  4);
  return true;
}

// Reads the texel at an origin given by constants, or zeros if that is outside the image.
Status gather(const WorkGroup& group) {
  if (number_of(group) != 0) return {};
  const std::array<std::uint32_t, 4> texel = group.texture(0).image.read<std::uint32_t>(
      group.constant<std::int32_t>(2), group.constant<std::int32_t>(3));
  std::copy(texel.begin(), texel.end(), group.buffer<std::uint32_t>(1).begin());
  return {};
}
bool gather_model(const Launch& launch) {
  const TextureInfo& in = *launch.places[0].texture();
  const auto x = value_of<std::int32_t>(launch.constants[0]);
  const auto y = value_of<std::int32_t>(launch.constants[1]);
  const bool inside =
      x >= 0 && y >= 0 && std::int64_t{x} < in.extent.width && std::int64_t{y} < in.extent.height;
  for (std::uint64_t channel = 0; channel < 4; ++channel) {
    const std::uint64_t byte = inside ? in.at(std::uint64_t(x), std::uint64_t(y)) + channel : 0;
    store(launch.places[1], channel,
          inside ? static_cast<std::uint32_t>(in.memory->bytes[byte]) : 0U);
  }
  return true;
}

BufferParam buffer(const char* name, Access access, std::uint64_t bytes) {
  return {.name = name, .access = access, .min_bytes = bytes};
}
ConstantParam constant(const char* name, ElementType type = ElementType::Int32) {
  return {.name = name, .type = type};
}

std::vector<Kernel> make_kernels() {
  const TextureParam in{
      .name = "in", .format = TexelFormat::Rgba8UInt, .min_extent = {.width = 2, .height = 2}};
  TextureParam out = in;
  out.name = "out";
  out.access = Access::Write;
  TextureParam anywhere = in;
  anywhere.min_extent = {.width = 1, .height = 1};
  anywhere.origin = TextureOrigin::Constants;
  const Grid grid = {
      Size::symbol(0),
      Size::of(Size::Op::Add, Size::of(Size::Op::FloorDiv, Size::symbol(1), Size(2)), Size(1)),
      Size(1)};
  return {
      {{.name = "nothing", .params = {}}, nothing, nothing_model},
      {{.name = "failing", .params = {}}, failing, failing_model},
      {{.name = "add",
        .params = {buffer("a", Access::Read, 16), buffer("b", Access::Write, 16), constant("k")}},
       add,
       add_model},
      {{.name = "advance", .params = {buffer("x", Access::ReadWrite, 16), constant("k")}},
       advance,
       advance_model},
      {{.name = "mark",
        .params = {buffer("x", Access::Write, 0), constant("k", ElementType::UInt32)},
        .grid = grid},
       mark,
       mark_model},
      {{.name = "constants",
        .params = {buffer("out", Access::Write, 48), constant("a"),
                   constant("b", ElementType::UInt32), constant("c", ElementType::Int64),
                   constant("d", ElementType::UInt64), constant("e", ElementType::Float32),
                   constant("f", ElementType::Float64)}},
       constants,
       constants_model},
      {{.name = "copy_texels", .params = {in, out}}, copy_texels, copy_texels_model},
      {{.name = "gather",
        .params = {anywhere, buffer("out", Access::Write, 16), constant("x"), constant("y")}},
       gather,
       gather_model},
  };
}

bool takes_buffer(const BufferParam& param, const Place& place, const DeviceLimits& limits) {
  const BufferInfo* buffer = place.buffer();
  return buffer != nullptr && !buffer->foreign && allows(buffer->usage, BufferUsage::Storage) &&
         fits(place.offset, param.min_bytes, buffer->bytes) && place.offset != buffer->bytes &&
         (buffer->base + place.offset) % limits.buffer_offset_alignment == 0;
}

bool takes_texture(const TextureParam& param, const Place& place) {
  const TextureInfo* texture = place.texture();
  const TextureUsage usage = reads(param.access) ? TextureUsage::Sampled : TextureUsage::Storage;
  return texture != nullptr && !texture->foreign && allows(texture->usage, usage) &&
         fits(place.origin, param.min_extent, texture->extent) && texture->format == param.format &&
         (param.origin == TextureOrigin::Constants || place.origin == Offset2D{});
}

// Returns the number of bytes that a buffer's parameter declares, or else of all bound bytes.
std::uint64_t touched_bytes(const KernelParam& param, const Place& place) {
  const std::uint64_t declared = std::get<BufferParam>(param).min_bytes;
  return declared != 0 ? declared : place.buffer()->bytes - place.offset;
}

// Returns the range in memory that other objects may share.
ByteRange shared_bytes(const KernelParam& param, const Place& place) {
  if (const BufferInfo* buffer = place.buffer())
    return {buffer->memory.get(), buffer->base + place.offset, touched_bytes(param, place)};
  const TextureInfo& texture = *place.texture();
  if (!texture.is_view) return {};
  return {texture.memory.get(), texture.base, texture.pitch * texture.extent.height};
}

}  // namespace

const std::vector<Kernel>& kernels() {
  static const std::vector<Kernel> all = make_kernels();
  return all;
}

host::FunctionLibrary kernel_library() {
  host::FunctionLibrary library{.name = "fuzz", .functions = {}};
  for (const Kernel& kernel : kernels()) library.functions[kernel.entry.name] = kernel.function;
  return library;
}

bool takes(const KernelParam& param, const Place& place, const DeviceLimits& limits) {
  if (const auto* buffer = std::get_if<BufferParam>(&param))
    return takes_buffer(*buffer, place, limits);
  return takes_texture(std::get<TextureParam>(param), place);
}

bool has_aliases(const EntryPoint& entry, std::span<const Place> places) {
  const std::vector<const KernelParam*> params = memory_params(entry);
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Access a = access_of(*params[i]);
      const Access b = access_of(*params[j]);
      const TextureInfo* x = places[i].texture();
      const TextureInfo* y = places[j].texture();
      if (x != nullptr && y != nullptr && x->identity == y->identity) {
        if (a != b) return true;
      } else if (writes(a) || writes(b)) {
        if (meet(shared_bytes(*params[i], places[i]), shared_bytes(*params[j], places[j])))
          return true;
      }
    }
  }
  return false;
}

std::vector<const KernelParam*> memory_params(const EntryPoint& entry) {
  std::vector<const KernelParam*> params;
  for (const KernelParam& param : entry.params)
    if (!std::holds_alternative<ConstantParam>(param)) params.push_back(&param);
  return params;
}

std::vector<const ConstantParam*> constant_params(const EntryPoint& entry) {
  std::vector<const ConstantParam*> params;
  for (const KernelParam& param : entry.params)
    if (const auto* constant = std::get_if<ConstantParam>(&param)) params.push_back(constant);
  return params;
}

Touch touch_of(const KernelParam& param, const Bound& bound) {
  if (const auto* slot = std::get_if<BindingSlot>(&bound))
    return {.slot = slot->index, .writes = writes(access_of(param)), .x_begin = 0, .x_end = 1};
  const Place& place = std::get<Place>(bound);
  if (const BufferInfo* buffer = place.buffer())
    return bytes_touched(*buffer->memory, buffer->base + place.offset, touched_bytes(param, place),
                         writes(access_of(param)));
  return texels_touched(*place.texture(), place.origin, std::get<TextureParam>(param).min_extent,
                        writes(access_of(param)));
}

}  // namespace texloom::hal::fuzz
