#include "runtime/hal/types.h"

#include <fmt/format.h>

namespace texloom::hal {
namespace {

struct ElementRow {
  ElementType type;
  std::uint32_t bytes;
  std::string_view name;
};

constexpr ElementRow kElementRows[] = {
    {ElementType::Bool, 1, "bool"},         {ElementType::Int8, 1, "int8"},
    {ElementType::Int16, 2, "int16"},       {ElementType::Int32, 4, "int32"},
    {ElementType::Int64, 8, "int64"},       {ElementType::UInt8, 1, "uint8"},
    {ElementType::UInt16, 2, "uint16"},     {ElementType::UInt32, 4, "uint32"},
    {ElementType::UInt64, 8, "uint64"},     {ElementType::Float16, 2, "float16"},
    {ElementType::BFloat16, 2, "bfloat16"}, {ElementType::Float32, 4, "float32"},
    {ElementType::Float64, 8, "float64"},
};

struct FormatRow {
  TexelFormat format;
  ElementType channel;
  std::string_view name;
  bool normalized = false;
};

constexpr FormatRow kFormatRows[] = {
    {TexelFormat::Rgba8Int, ElementType::Int8, "rgba8int"},
    {TexelFormat::Rgba8UInt, ElementType::UInt8, "rgba8uint"},
    {TexelFormat::Rgba16Int, ElementType::Int16, "rgba16int"},
    {TexelFormat::Rgba16UInt, ElementType::UInt16, "rgba16uint"},
    {TexelFormat::Rgba32Int, ElementType::Int32, "rgba32int"},
    {TexelFormat::Rgba32UInt, ElementType::UInt32, "rgba32uint"},
    {TexelFormat::Rgba16Float, ElementType::Float16, "rgba16float"},
    {TexelFormat::Rgba32Float, ElementType::Float32, "rgba32float"},
    {TexelFormat::Rgba8Unorm, ElementType::UInt8, "rgba8unorm", true},
    {TexelFormat::Rgba16Unorm, ElementType::UInt16, "rgba16unorm", true},
};

// The tables are in the order of their enums.
constexpr const ElementRow& row_of(ElementType type) {
  return kElementRows[static_cast<std::size_t>(type)];
}
constexpr const FormatRow& row_of(TexelFormat format) {
  return kFormatRows[static_cast<std::size_t>(format)];
}

constexpr bool tables_in_order() {
  for (const ElementRow& row : kElementRows)
    if (row_of(row.type).type != row.type) return false;
  for (const FormatRow& row : kFormatRows)
    if (row_of(row.format).format != row.format) return false;
  return true;
}
static_assert(tables_in_order());

}  // namespace

std::uint32_t byte_size(ElementType type) { return row_of(type).bytes; }
std::string_view to_string(ElementType type) { return row_of(type).name; }

std::optional<ElementType> element_type_from_name(std::string_view name) {
  for (const ElementRow& row : kElementRows)
    if (row.name == name) return row.type;
  return std::nullopt;
}

std::uint32_t bytes_per_texel(TexelFormat format) { return 4 * byte_size(channel_type(format)); }
std::uint64_t byte_size(Extent2D extent, TexelFormat format) {
  return std::uint64_t{extent.width} * extent.height * bytes_per_texel(format);
}
ElementType channel_type(TexelFormat format) { return row_of(format).channel; }
bool is_normalized(TexelFormat format) { return row_of(format).normalized; }
std::string_view to_string(TexelFormat format) { return row_of(format).name; }

std::optional<TexelFormat> texel_format_of(ElementType channel) {
  for (const FormatRow& row : kFormatRows)
    if (row.channel == channel && !row.normalized) return row.format;
  return std::nullopt;
}

std::string to_string(Extent2D extent) {
  return fmt::format("{}x{} texels", extent.width, extent.height);
}
std::string to_string(Offset2D offset) { return fmt::format("({}, {})", offset.x, offset.y); }

std::string_view to_string(TextureKind kind) {
  switch (kind) {
    case TextureKind::Image2D:
      return "a 2-D image";
    case TextureKind::Image2DArray:
      return "an array of 2-D images";
    case TextureKind::Image1DBuffer:
      return "a 1-D image of a buffer";
  }
  return "an unknown kind of image";
}

std::string_view to_string(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::Device:
      return "device";
    case MemoryKind::Shared:
      return "shared";
    case MemoryKind::Managed:
      return "managed";
  }
  return "unknown";
}

bool region_fits(Offset2D origin, Extent2D extent, Extent2D image) {
  return range_fits(origin.x, extent.width, image.width) &&
         range_fits(origin.y, extent.height, image.height);
}

bool regions_meet(Offset2D a, Extent2D a_extent, Offset2D b, Extent2D b_extent) {
  return ranges_meet(a.x, a_extent.width, b.x, b_extent.width) &&
         ranges_meet(a.y, a_extent.height, b.y, b_extent.height);
}

std::string_view to_string(Access access) {
  switch (access) {
    case Access::Read:
      return "read";
    case Access::Write:
      return "write";
    case Access::ReadWrite:
      return "read-write";
  }
  return "unknown access";
}

}  // namespace texloom::hal
