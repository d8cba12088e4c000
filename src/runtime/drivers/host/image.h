// Reads and writes texels in host memory as a device does.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "runtime/hal/types.h"

namespace texloom::hal::host {

template <typename T>
concept TexelValue =
    std::same_as<T, float> || std::same_as<T, std::int32_t> || std::same_as<T, std::uint32_t>;

// A non-owning image: rows of texels, each at a multiple of the pitch. Coordinates outside the
// image are allowed: reads return zeros (OpenCL's CLK_ADDRESS_CLAMP), and writes are dropped.
//
// A number that the format cannot represent is converted to the nearest one that it can; in integer
// formats NaN becomes zero. Floats round to nearest, ties to even. Integer texels may be read as
// floats, with the same values, and float texels as integers, with the fraction dropped; OpenCL
// leaves these two conversions undefined.
class Image {
 public:
  Image(std::byte* texels, Extent2D extent, TexelFormat format, std::uint64_t row_pitch)
      : texels_(texels), extent_(extent), format_(format), row_pitch_(row_pitch) {}

  Extent2D extent() const { return extent_; }
  TexelFormat format() const { return format_; }
  std::uint64_t row_pitch() const { return row_pitch_; }  // bytes
  // The bytes of a texel, which must be inside the image.
  std::byte* at(std::uint32_t x, std::uint32_t y) const {
    return texels_ + row_pitch_ * y + std::uint64_t{bytes_per_texel(format_)} * x;
  }

  template <TexelValue T>
  std::array<T, 4> read(std::int64_t x, std::int64_t y) const;
  template <TexelValue T>
  void write(std::int64_t x, std::int64_t y, const std::array<T, 4>& texel) const;

 private:
  // The bytes of a texel; null if it is outside the image.
  std::byte* find(std::int64_t x, std::int64_t y) const;

  std::byte* texels_;
  Extent2D extent_;
  TexelFormat format_;
  std::uint64_t row_pitch_;
};

}  // namespace texloom::hal::host
