#include "runtime/drivers/host/image.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "support/half.h"

namespace texloom::hal::host {

namespace {

// The nearest number that T can represent. `value` is a float or a 32-bit integer.
template <typename T>
T saturated(double value) {
  if constexpr (std::same_as<T, float>) return static_cast<float>(value);
  if (std::isnan(value)) return 0;
  if (value <= static_cast<double>(std::numeric_limits<T>::min()))
    return std::numeric_limits<T>::min();
  if (value >= static_cast<double>(std::numeric_limits<T>::max()))
    return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

template <typename T>
double number_at(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

template <typename T>
void put(std::byte* bytes, T value) {
  std::memcpy(bytes, &value, sizeof value);
}

// Loads a channel as a double, which represents every number of every format exactly, except the
// fractions of normalized formats.
double load(TexelFormat format, const std::byte* bytes) {
  switch (format) {
    case TexelFormat::Rgba8Int:
      return number_at<std::int8_t>(bytes);
    case TexelFormat::Rgba8UInt:
      return number_at<std::uint8_t>(bytes);
    case TexelFormat::Rgba16Int:
      return number_at<std::int16_t>(bytes);
    case TexelFormat::Rgba16UInt:
      return number_at<std::uint16_t>(bytes);
    case TexelFormat::Rgba32Int:
      return number_at<std::int32_t>(bytes);
    case TexelFormat::Rgba32UInt:
      return number_at<std::uint32_t>(bytes);
    case TexelFormat::Rgba16Float: {
      std::uint16_t half;
      std::memcpy(&half, bytes, sizeof half);
      return float_of_half(half);
    }
    case TexelFormat::Rgba32Float:
      return number_at<float>(bytes);
    case TexelFormat::Rgba8Unorm:
      return number_at<std::uint8_t>(bytes) / 255.0;
    case TexelFormat::Rgba16Unorm:
      return number_at<std::uint16_t>(bytes) / 65535.0;
  }
  return 0;
}

void store(TexelFormat format, std::byte* bytes, double value) {
  switch (format) {
    case TexelFormat::Rgba8Int:
      return put(bytes, saturated<std::int8_t>(value));
    case TexelFormat::Rgba8UInt:
      return put(bytes, saturated<std::uint8_t>(value));
    case TexelFormat::Rgba16Int:
      return put(bytes, saturated<std::int16_t>(value));
    case TexelFormat::Rgba16UInt:
      return put(bytes, saturated<std::uint16_t>(value));
    case TexelFormat::Rgba32Int:
      return put(bytes, saturated<std::int32_t>(value));
    case TexelFormat::Rgba32UInt:
      return put(bytes, saturated<std::uint32_t>(value));
    case TexelFormat::Rgba16Float:
      return put(bytes, half_of_float(static_cast<float>(value)));
    case TexelFormat::Rgba32Float:
      return put(bytes, static_cast<float>(value));
    case TexelFormat::Rgba8Unorm:
      return put(bytes, saturated<std::uint8_t>(std::nearbyint(value * 255.0)));
    case TexelFormat::Rgba16Unorm:
      return put(bytes, saturated<std::uint16_t>(std::nearbyint(value * 65535.0)));
  }
}

}  // namespace

std::byte* Image::find(std::int64_t x, std::int64_t y) const {
  if (x < 0 || y < 0 || x >= extent_.width || y >= extent_.height) return nullptr;
  return at(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y));
}

template <TexelValue T>
std::array<T, 4> Image::read(std::int64_t x, std::int64_t y) const {
  std::array<T, 4> texel = {};
  const std::byte* bytes = find(x, y);
  if (bytes == nullptr) return texel;
  const std::uint32_t step = bytes_per_texel(format_) / 4;
  for (std::size_t i = 0; i < texel.size(); ++i)
    texel[i] = saturated<T>(load(format_, bytes + i * step));
  return texel;
}

template <TexelValue T>
void Image::write(std::int64_t x, std::int64_t y, const std::array<T, 4>& texel) const {
  std::byte* bytes = find(x, y);
  if (bytes == nullptr) return;
  const std::uint32_t step = bytes_per_texel(format_) / 4;
  for (std::size_t i = 0; i < texel.size(); ++i) store(format_, bytes + i * step, texel[i]);
}

template std::array<float, 4> Image::read(std::int64_t, std::int64_t) const;
template std::array<std::int32_t, 4> Image::read(std::int64_t, std::int64_t) const;
template std::array<std::uint32_t, 4> Image::read(std::int64_t, std::int64_t) const;
template void Image::write(std::int64_t, std::int64_t, const std::array<float, 4>&) const;
template void Image::write(std::int64_t, std::int64_t, const std::array<std::int32_t, 4>&) const;
template void Image::write(std::int64_t, std::int64_t, const std::array<std::uint32_t, 4>&) const;

}  // namespace texloom::hal::host
