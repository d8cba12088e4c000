// Texels in host memory, read and written as a device does it.
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

// A borrowed image: rows of texels, each at a multiple of the pitch. Coordinates outside of it are
// allowed: reads give zeros there (OpenCL's CLK_ADDRESS_CLAMP), writes are dropped.
//
// Numbers that the format does not hold become the nearest that it does, NaN zero in integers;
// floats are rounded to nearest, ties to even. A texel of integers read as floats has those values,
// and the other way round the integer part: OpenCL leaves that undefined.
class Image {
 public:
  Image(std::byte* texels, Extent2D extent, TexelFormat format, std::uint64_t row_pitch)
      : texels_(texels), extent_(extent), format_(format), row_pitch_(row_pitch) {}

  Extent2D extent() const { return extent_; }
  TexelFormat format() const { return format_; }
  std::uint64_t row_pitch() const { return row_pitch_; }  // bytes
  // The texel's bytes; it is inside.
  std::byte* at(std::uint32_t x, std::uint32_t y) const {
    return texels_ + row_pitch_ * y + std::uint64_t{bytes_per_texel(format_)} * x;
  }

  template <TexelValue T>
  std::array<T, 4> read(std::int64_t x, std::int64_t y) const;
  template <TexelValue T>
  void write(std::int64_t x, std::int64_t y, const std::array<T, 4>& texel) const;

 private:
  // nullptr when it is outside.
  std::byte* find(std::int64_t x, std::int64_t y) const;

  std::byte* texels_;
  Extent2D extent_;
  TexelFormat format_;
  std::uint64_t row_pitch_;
};

}  // namespace texloom::hal::host
