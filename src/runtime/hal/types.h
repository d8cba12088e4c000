// The HAL's value types: element types, texel formats, extents, access and usage.
//
// Extents and origins of textures are in texels (x to the right, y downwards); sizes, offsets and
// pitches of memory are in bytes. A texel is always four channels (RGBA).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace texloom::hal {

enum class ElementType : std::uint8_t {
  Bool,  // one byte, 0 or 1
  Int8,
  Int16,
  Int32,
  Int64,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
  Float16,
  BFloat16,
  Float32,
  Float64,
};

std::uint32_t byte_size(ElementType type);
// "float32", "bool"; element_type_from_name is the inverse.
std::string_view to_string(ElementType type);
std::optional<ElementType> element_type_from_name(std::string_view name);

// Four channels of the same type. Kernels read and write integer formats as integers, and
// normalized formats (Unorm) as floats from 0 to 1: the stored number divided by the largest number
// of its type.
enum class TexelFormat : std::uint8_t {
  Rgba8Int,
  Rgba8UInt,
  Rgba16Int,
  Rgba16UInt,
  Rgba32Int,
  Rgba32UInt,
  Rgba16Float,
  Rgba32Float,
  Rgba8Unorm,
  Rgba16Unorm,
};
inline constexpr std::array kAllTexelFormats = {TexelFormat::Rgba8Int,    TexelFormat::Rgba8UInt,
                                                TexelFormat::Rgba16Int,   TexelFormat::Rgba16UInt,
                                                TexelFormat::Rgba32Int,   TexelFormat::Rgba32UInt,
                                                TexelFormat::Rgba16Float, TexelFormat::Rgba32Float,
                                                TexelFormat::Rgba8Unorm,  TexelFormat::Rgba16Unorm};

std::uint32_t bytes_per_texel(TexelFormat format);
// The type in which a channel is stored: an unsigned integer for normalized formats.
ElementType channel_type(TexelFormat format);
bool is_normalized(TexelFormat format);
// The format whose channels are both stored and read as this type; never a normalized one.
std::optional<TexelFormat> texel_format_of(ElementType channel);
// "rgba32float"
std::string_view to_string(TexelFormat format);

struct Extent2D {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  bool operator==(const Extent2D&) const = default;
};
// "1024x32 texels"
std::string to_string(Extent2D extent);
// The size of an image in bytes, without gaps between rows.
std::uint64_t byte_size(Extent2D extent, TexelFormat format);

struct Offset2D {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  bool operator==(const Offset2D&) const = default;
};
// "(3, 0)"
std::string to_string(Offset2D offset);

// The kinds of images that kernels can use. Drivers support only Image2D so far, and refuse others
// with Unimplemented.
enum class TextureKind : std::uint8_t {
  Image2D,
  Image2DArray,   // several layers of the same extent
  Image1DBuffer,  // one row of texels in a buffer
};
// "a 2-D image"
std::string_view to_string(TextureKind kind);

// The place of a buffer's memory, and the host's access to it. MemoryKindInfo (device_info.h) gives
// the kinds that a device has and their properties.
enum class MemoryKind : std::uint8_t {
  Device,   // only the device accesses it (Metal: private)
  Shared,   // the host and the device access the same memory (Metal: shared)
  Managed,  // device memory, with a copy for the host while it is mapped (Metal: managed)
};
inline constexpr std::array kAllMemoryKinds = {MemoryKind::Device, MemoryKind::Shared,
                                               MemoryKind::Managed};
// "device", "shared", "managed"
std::string_view to_string(MemoryKind kind);

// Whether [origin, origin + extent) lies inside an image of `image` texels.
bool region_fits(Offset2D origin, Extent2D extent, Extent2D image);
// Whether [offset, offset + size) lies inside `total` bytes; never overflows.
constexpr bool range_fits(std::uint64_t offset, std::uint64_t size, std::uint64_t total) {
  return offset <= total && size <= total - offset;
}
// Whether [a, a + a_size) and [b, b + b_size) overlap; never overflows.
constexpr bool ranges_meet(std::uint64_t a, std::uint64_t a_size, std::uint64_t b,
                           std::uint64_t b_size) {
  if (a_size == 0 || b_size == 0) return false;
  return a < b ? b - a < a_size : a - b < b_size;
}
// Whether two rectangles of texels overlap.
bool regions_meet(Offset2D a, Extent2D a_extent, Offset2D b, Extent2D b_extent);

// How a kernel uses an argument.
enum class Access : std::uint8_t { Read, Write, ReadWrite };
// "read", "write", "read-write"
std::string_view to_string(Access access);
inline bool reads(Access access) { return access != Access::Write; }
inline bool writes(Access access) { return access != Access::Read; }

// The uses for which a buffer or a texture is created. A driver may place memory accordingly; other
// uses are refused.
enum class BufferUsage : std::uint32_t {
  Storage = 1,     // read and written by kernels
  CopySource = 2,  // read by copies and readbacks
  CopyTarget = 4,  // written by fills, copies and updates
  Indirect = 8,    // read as the numbers of groups of indirect dispatches
  View = 16,       // viewed by textures
  All = 31,
};
enum class TextureUsage : std::uint32_t {
  Sampled = 1,  // read by kernels
  Storage = 2,  // written by kernels
  CopySource = 4,
  CopyTarget = 8,
  All = 15,
};
constexpr BufferUsage operator|(BufferUsage a, BufferUsage b) {
  return static_cast<BufferUsage>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
constexpr TextureUsage operator|(TextureUsage a, TextureUsage b) {
  return static_cast<TextureUsage>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
// Whether `usage` includes every use in `wanted`.
constexpr bool allows(BufferUsage usage, BufferUsage wanted) { return (usage | wanted) == usage; }
constexpr bool allows(TextureUsage usage, TextureUsage wanted) { return (usage | wanted) == usage; }

}  // namespace texloom::hal
