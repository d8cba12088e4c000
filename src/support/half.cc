#include "support/half.h"

#include <bit>
#include <cmath>

namespace texloom {

namespace {

constexpr int kFractionBits = 10;
constexpr int kMinExponent = -14;  // of normal numbers
constexpr std::uint32_t kInfinity = 0x7c00;
constexpr std::uint32_t kNaN = 0x7e00;
constexpr std::uint32_t kSign = 0x8000;

}  // namespace

float float_of_half(std::uint16_t half) {
  const float sign = (half & kSign) != 0 ? -1.0F : 1.0F;
  const int exponent = half >> kFractionBits & 0x1f;
  const int fraction = half & 0x3ff;
  if (exponent == 0x1f) return fraction == 0 ? sign * HUGE_VALF : std::copysign(NAN, sign);
  if (exponent == 0) {
    return sign * std::ldexp(static_cast<float>(fraction), kMinExponent - kFractionBits);
  }
  return sign * std::ldexp(static_cast<float>(fraction + 0x400), exponent - 15 - kFractionBits);
}

std::uint16_t half_of_float(float value) {
  const std::uint32_t sign = std::bit_cast<std::uint32_t>(value) >> 16 & kSign;
  const float magnitude = std::fabs(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | kNaN);
  // Half a unit in the last place above the largest number is a tie, which rounds to infinity.
  if (magnitude >= 65520.0F) return static_cast<std::uint16_t>(sign | kInfinity);
  int exponent = kMinExponent;
  if (magnitude >= std::ldexp(1.0F, kMinExponent)) exponent = std::ilogb(magnitude);
  // The magnitude in units in the last place. Exact, because the scale is a power of two.
  const float units = std::ldexp(magnitude, kFractionBits - exponent);
  auto places = static_cast<std::uint32_t>(units);
  const float rest = units - static_cast<float>(places);
  if (rest > 0.5F || (rest == 0.5F && places % 2 == 1)) ++places;
  // A fraction of 0x400 or more carries into the exponent, which is correct for subnormal numbers
  // and for those that round up to a power of two.
  const auto base = static_cast<std::uint32_t>(exponent - kMinExponent) << kFractionBits;
  return static_cast<std::uint16_t>(sign | (base + places));
}

}  // namespace texloom
