// Formats of texels, numbered as in Metal's API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace softmetal {

enum class PixelFormat : uint32_t {
  Invalid = 0,
  A8Unorm = 1,
  R8Unorm = 10,
  R8UnormSrgb = 11,
  R8Snorm = 12,
  R8Uint = 13,
  R8Sint = 14,
  R16Unorm = 20,
  R16Snorm = 22,
  R16Uint = 23,
  R16Sint = 24,
  R16Float = 25,
  RG8Unorm = 30,
  RG8UnormSrgb = 31,
  RG8Snorm = 32,
  RG8Uint = 33,
  RG8Sint = 34,
  R32Uint = 53,
  R32Sint = 54,
  R32Float = 55,
  RG16Unorm = 60,
  RG16Snorm = 62,
  RG16Uint = 63,
  RG16Sint = 64,
  RG16Float = 65,
  RGBA8Unorm = 70,
  RGBA8UnormSrgb = 71,
  RGBA8Snorm = 72,
  RGBA8Uint = 73,
  RGBA8Sint = 74,
  BGRA8Unorm = 80,
  BGRA8UnormSrgb = 81,
  RGB10A2Unorm = 90,
  RGB10A2Uint = 91,
  RG32Uint = 103,
  RG32Sint = 104,
  RG32Float = 105,
  RGBA16Unorm = 110,
  RGBA16Snorm = 112,
  RGBA16Uint = 113,
  RGBA16Sint = 114,
  RGBA16Float = 115,
  RGBA32Uint = 123,
  RGBA32Sint = 124,
  RGBA32Float = 125,
  Depth16Unorm = 250,
  Depth32Float = 252,
};

enum class TexelKind {
  Float,
  Int,
  Uint
};  // the type that programs read, numbered as in __sm_texture types

struct FormatInfo {
  PixelFormat format;
  const char* name;
  uint32_t bytes;     // per texel
  uint32_t channels;  // 1, 2 or 4
  TexelKind kind;
};

const FormatInfo* format_info(PixelFormat format);  // null if it is not known

// Converts texels from and to four 32-bit numbers, floats or integers. Channels that the format
// lacks are 0, and alpha is 1. As in Metal, normalized integers round to nearest even, NaN becomes
// 0, and integers saturate.
void decode_texel(PixelFormat format, const void* from, uint32_t texel[4]);
void encode_texel(PixelFormat format, const uint32_t texel[4], void* to);

float float_of_half(uint16_t half);
uint16_t half_of_float(float value);  // to nearest even

}  // namespace softmetal
