#include "tests/softmetal/execute/pixel_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace softmetal {
namespace {

// The encoding of a channel.
enum class Coding { Unorm, Snorm, Uint, Sint, Float, Srgb };

struct Layout {
  FormatInfo info;
  Coding coding;
  uint32_t bits;         // of a channel
  bool swapped = false;  // blue before red
};

constexpr TexelKind kind_of(Coding c) {
  return c == Coding::Uint ? TexelKind::Uint
                           : (c == Coding::Sint ? TexelKind::Int : TexelKind::Float);
}
constexpr Layout layout(PixelFormat f, const char* name, uint32_t channels, Coding coding,
                        uint32_t bits, bool swapped = false) {
  return {{f, name, channels * bits / 8, channels, kind_of(coding)}, coding, bits, swapped};
}

using F = PixelFormat;
constexpr Layout kLayouts[] = {
    layout(F::A8Unorm, "A8Unorm", 1, Coding::Unorm, 8),
    layout(F::R8Unorm, "R8Unorm", 1, Coding::Unorm, 8),
    layout(F::R8UnormSrgb, "R8Unorm_sRGB", 1, Coding::Srgb, 8),
    layout(F::R8Snorm, "R8Snorm", 1, Coding::Snorm, 8),
    layout(F::R8Uint, "R8Uint", 1, Coding::Uint, 8),
    layout(F::R8Sint, "R8Sint", 1, Coding::Sint, 8),
    layout(F::R16Unorm, "R16Unorm", 1, Coding::Unorm, 16),
    layout(F::R16Snorm, "R16Snorm", 1, Coding::Snorm, 16),
    layout(F::R16Uint, "R16Uint", 1, Coding::Uint, 16),
    layout(F::R16Sint, "R16Sint", 1, Coding::Sint, 16),
    layout(F::R16Float, "R16Float", 1, Coding::Float, 16),
    layout(F::RG8Unorm, "RG8Unorm", 2, Coding::Unorm, 8),
    layout(F::RG8UnormSrgb, "RG8Unorm_sRGB", 2, Coding::Srgb, 8),
    layout(F::RG8Snorm, "RG8Snorm", 2, Coding::Snorm, 8),
    layout(F::RG8Uint, "RG8Uint", 2, Coding::Uint, 8),
    layout(F::RG8Sint, "RG8Sint", 2, Coding::Sint, 8),
    layout(F::R32Uint, "R32Uint", 1, Coding::Uint, 32),
    layout(F::R32Sint, "R32Sint", 1, Coding::Sint, 32),
    layout(F::R32Float, "R32Float", 1, Coding::Float, 32),
    layout(F::RG16Unorm, "RG16Unorm", 2, Coding::Unorm, 16),
    layout(F::RG16Snorm, "RG16Snorm", 2, Coding::Snorm, 16),
    layout(F::RG16Uint, "RG16Uint", 2, Coding::Uint, 16),
    layout(F::RG16Sint, "RG16Sint", 2, Coding::Sint, 16),
    layout(F::RG16Float, "RG16Float", 2, Coding::Float, 16),
    layout(F::RGBA8Unorm, "RGBA8Unorm", 4, Coding::Unorm, 8),
    layout(F::RGBA8UnormSrgb, "RGBA8Unorm_sRGB", 4, Coding::Srgb, 8),
    layout(F::RGBA8Snorm, "RGBA8Snorm", 4, Coding::Snorm, 8),
    layout(F::RGBA8Uint, "RGBA8Uint", 4, Coding::Uint, 8),
    layout(F::RGBA8Sint, "RGBA8Sint", 4, Coding::Sint, 8),
    layout(F::BGRA8Unorm, "BGRA8Unorm", 4, Coding::Unorm, 8, true),
    layout(F::BGRA8UnormSrgb, "BGRA8Unorm_sRGB", 4, Coding::Srgb, 8, true),
    // The channels of these two formats differ in width; see packed_bits().
    layout(F::RGB10A2Unorm, "RGB10A2Unorm", 4, Coding::Unorm, 8),
    layout(F::RGB10A2Uint, "RGB10A2Uint", 4, Coding::Uint, 8),
    layout(F::RG32Uint, "RG32Uint", 2, Coding::Uint, 32),
    layout(F::RG32Sint, "RG32Sint", 2, Coding::Sint, 32),
    layout(F::RG32Float, "RG32Float", 2, Coding::Float, 32),
    layout(F::RGBA16Unorm, "RGBA16Unorm", 4, Coding::Unorm, 16),
    layout(F::RGBA16Snorm, "RGBA16Snorm", 4, Coding::Snorm, 16),
    layout(F::RGBA16Uint, "RGBA16Uint", 4, Coding::Uint, 16),
    layout(F::RGBA16Sint, "RGBA16Sint", 4, Coding::Sint, 16),
    layout(F::RGBA16Float, "RGBA16Float", 4, Coding::Float, 16),
    layout(F::RGBA32Uint, "RGBA32Uint", 4, Coding::Uint, 32),
    layout(F::RGBA32Sint, "RGBA32Sint", 4, Coding::Sint, 32),
    layout(F::RGBA32Float, "RGBA32Float", 4, Coding::Float, 32),
    layout(F::Depth16Unorm, "Depth16Unorm", 1, Coding::Unorm, 16),
    layout(F::Depth32Float, "Depth32Float", 1, Coding::Float, 32),
};

const Layout* find_layout(PixelFormat format) {
  for (const Layout& l : kLayouts) {
    if (l.info.format == format) return &l;
  }
  return nullptr;
}

// The bits of each channel of the formats whose channels differ.
bool is_packed(PixelFormat f) { return f == F::RGB10A2Unorm || f == F::RGB10A2Uint; }
constexpr std::array<uint32_t, 4> kPackedBits = {10, 10, 10, 2};

float from_srgb(float x) {
  return x <= 0.04045F ? x / 12.92F : std::pow((x + 0.055F) / 1.055F, 2.4F);
}
float to_srgb(float x) {
  if (!(x > 0)) return 0;
  if (x >= 1) return 1;
  return x < 0.0031308F ? 12.92F * x : 1.055F * std::pow(x, 1 / 2.4F) - 0.055F;
}

uint32_t decode_channel(Coding coding, uint32_t bits, uint32_t raw, bool alpha) {
  const uint32_t mask = bits == 32 ? ~0U : (1U << bits) - 1;
  switch (coding) {
    case Coding::Uint:
      return raw;
    case Coding::Sint:
      return bits == 32
                 ? raw
                 : static_cast<uint32_t>(static_cast<int32_t>(raw << (32 - bits)) >> (32 - bits));
    case Coding::Float:
      return bits == 32 ? raw : std::bit_cast<uint32_t>(float_of_half(static_cast<uint16_t>(raw)));
    case Coding::Unorm:
    case Coding::Srgb: {
      const float x = static_cast<float>(raw) / static_cast<float>(mask);
      return std::bit_cast<uint32_t>(coding == Coding::Srgb && !alpha ? from_srgb(x) : x);
    }
    case Coding::Snorm: {
      const int32_t value = static_cast<int32_t>(raw << (32 - bits)) >> (32 - bits);
      const float x = static_cast<float>(value) / static_cast<float>(mask >> 1);
      return std::bit_cast<uint32_t>(std::max(x, -1.0F));
    }
  }
  return 0;
}

uint32_t encode_channel(Coding coding, uint32_t bits, uint32_t value, bool alpha) {
  const uint32_t mask = bits == 32 ? ~0U : (1U << bits) - 1;
  float x = std::bit_cast<float>(value);
  if (std::isnan(x)) x = 0;
  switch (coding) {
    case Coding::Uint:
      return std::min(value, mask);
    case Coding::Sint: {
      if (bits == 32) return value;
      const int32_t high = static_cast<int32_t>(mask >> 1);
      return static_cast<uint32_t>(std::clamp(static_cast<int32_t>(value), -high - 1, high)) & mask;
    }
    case Coding::Float:
      return bits == 32 ? value : half_of_float(std::bit_cast<float>(value));
    case Coding::Unorm:
    case Coding::Srgb:
      if (coding == Coding::Srgb && !alpha) x = to_srgb(x);
      return static_cast<uint32_t>(
          std::nearbyint(std::clamp(x, 0.0F, 1.0F) * static_cast<float>(mask)));
    case Coding::Snorm:
      return static_cast<uint32_t>(static_cast<int32_t>(
                 std::nearbyint(std::clamp(x, -1.0F, 1.0F) * static_cast<float>(mask >> 1)))) &
             mask;
  }
  return 0;
}

}  // namespace

const FormatInfo* format_info(PixelFormat format) {
  const Layout* l = find_layout(format);
  return l == nullptr ? nullptr : &l->info;
}

void decode_texel(PixelFormat format, const void* from, uint32_t texel[4]) {
  const Layout& l = *find_layout(format);
  texel[0] = texel[1] = texel[2] = 0;
  texel[3] = l.info.kind == TexelKind::Float ? std::bit_cast<uint32_t>(1.0F) : 1;
  if (is_packed(format)) {
    uint32_t word = 0;
    std::memcpy(&word, from, sizeof word);
    for (uint32_t i = 0, shift = 0; i < 4; shift += kPackedBits[i++]) {
      texel[i] = decode_channel(l.coding, kPackedBits[i],
                                word >> shift & ((1U << kPackedBits[i]) - 1), i == 3);
    }
    return;
  }
  for (uint32_t i = 0; i < l.info.channels; ++i) {
    uint32_t raw = 0;
    std::memcpy(&raw, static_cast<const char*>(from) + i * l.bits / 8, l.bits / 8);
    const uint32_t channel = l.swapped && i != 3 ? 2 - i : i;
    texel[channel] = decode_channel(l.coding, l.bits, raw, i == 3);
  }
  if (format == F::A8Unorm) {
    texel[3] = texel[0];
    texel[0] = 0;
  }
}

void encode_texel(PixelFormat format, const uint32_t texel[4], void* to) {
  const Layout& l = *find_layout(format);
  if (is_packed(format)) {
    uint32_t word = 0;
    for (uint32_t i = 0, shift = 0; i < 4; shift += kPackedBits[i++]) {
      word |= encode_channel(l.coding, kPackedBits[i], texel[i], i == 3) << shift;
    }
    std::memcpy(to, &word, sizeof word);
    return;
  }
  for (uint32_t i = 0; i < l.info.channels; ++i) {
    uint32_t channel = l.swapped && i != 3 ? 2 - i : i;
    if (format == F::A8Unorm) channel = 3;
    const uint32_t raw = encode_channel(l.coding, l.bits, texel[channel], i == 3);
    std::memcpy(static_cast<char*>(to) + i * l.bits / 8, &raw, l.bits / 8);
  }
}

float float_of_half(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16, exponent = half >> 10 & 31,
                 mantissa = half & 1023;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000 | mantissa << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  const float small = std::ldexp(static_cast<float>(mantissa), -24);
  return sign != 0 ? -small : small;
}

uint16_t half_of_float(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00 | static_cast<uint16_t>(magnitude >> 13 & 0x1ff);
  if (magnitude >= 0x477ff000) return sign | 0x7c00;  // from 65520 on
  if (magnitude < 0x38800000) {                       // a denormal of half
    const float scaled = std::nearbyint(std::ldexp(std::bit_cast<float>(magnitude), 24));
    return static_cast<uint16_t>(sign | static_cast<uint16_t>(scaled));
  }
  const uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
  return static_cast<uint16_t>(sign | (rounded - 0x38000000) >> 13);
}

}  // namespace softmetal
