#include "codegen/msl/missing_functions.h"

#include <fmt/format.h>

#include <array>

#include "codegen/c/defined_functions.h"
#include "codegen/c/spelling.h"
#include "support/check.h"

namespace texloom::codegen::msl {
namespace {

struct Function {
  std::string_view name;
  int arity;
  std::string_view definition;
};

// The polynomials are least-squares fits in Chebyshev points, of relative error below 2^-26; what
// they approximate stands beside them. The bounds of errors of the whole functions are those of
// OpenCL C, which tests/python/metal/test_functions.py checks.
constexpr auto kFunctions = std::to_array<Function>({
    // Halley's iteration, which triples the number of correct digits, from an estimate in the
    // exponent. Scaled by a power of two, so that cubes neither overflow nor vanish.
    {"tl_cbrt", 1, R"(float tl_cbrt(float x) {
  const float a = fabs(x);
  if (!(a > 0.0f && a < INFINITY)) return x;
  const float up = a < 1e-30f ? 16777216.0f : a > 1e30f ? 5.9604645e-08f : 1.0f;
  const float down = a < 1e-30f ? 0.00390625f : a > 1e30f ? 256.0f : 1.0f;
  const float b = a * up;
  float t = as_type<float>(as_type<int>(b) / 3 + 709921077);
  for (int i = 0; i < 3; ++i) {
    const float cube = t * t * t;
    t = t - t * (fma(t * t, t, -b) / fma(2.0f, cube, b));
  }
  return copysign(t * down, x);
}
)"},
    // 1 + x = 2^k * (1 + f); c is what rounding 1 + x loses, and s = f / (2 + f).
    {"tl_log1p", 1, R"(float tl_log1p(float x) {
  if (!(x > -1.0f && x < INFINITY)) return x == -1.0f ? -INFINITY : x < -1.0f ? NAN : x;
  if (fabs(x) < 0.0001f) return fma(-0.5f * x, x, x);
  const float sum = 1.0f + x;
  const int bits = as_type<int>(sum), k = (bits - 0x3f3504f3) >> 23;
  const float lost = x < 1.0f ? x - (sum - 1.0f) : 1.0f - (sum - x);
  const float c = k == 0 ? 0.0f : lost / sum;
  const float f = k == 0 ? x : as_type<float>(bits - k * 8388608) - 1.0f;
  const float s = f / (2.0f + f), z = s * s, h = 0.5f * f * f;
  // (log((1 + s) / (1 - s)) / s - 2) / z
  float p = 0.23342863f;
  p = fma(p, z, 0.28550357f);
  p = fma(p, z, 0.40000126f);
  p = fma(p, z, 0.6666667f);
  const float low = fma(s, fma(p, z, h), fma(float(k), 1.4286068e-06f, c));
  return fma(float(k), 0.69314575f, f - (h - low));
}
)"},
    {"tl_nextafter", 2, R"(float tl_nextafter(float x, float y) {
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  if (x == 0.0f) return copysign(as_type<float>(1), y);
  const int bits = as_type<int>(x);
  return as_type<float>((x < y) == (x > 0.0f) ? bits + 1 : bits - 1);
}
)"},
    // From the function in 1..2, by the recurrence. `high + low` is the product of the factors,
    // with twice the digits of float32; its second half keeps a product of 42 of them finite.
    {"tl_tgamma", 1, R"(float tl_tgamma(float x) {
  if (x != x || x == INFINITY) return x;
  if (x == 0.0f) return copysign(INFINITY, x);
  if (x < 0.0f && floor(x) == x) return NAN;
  if (x > 35.05f) return INFINITY;
  if (x < -43.0f) return fmod(floor(x), 2.0f) == 0.0f ? 0.0f : -0.0f;
  float y = x, high = 1.0f, low = 0.0f, other = 1.0f;
  int count = 0;
  while (y < 1.0f || y > 2.0f) {
    const float factor = y < 1.0f ? y : y - 1.0f;
    y = y < 1.0f ? y + 1.0f : factor;
    if (++count == 21) {
      other = high + low;
      high = 1.0f;
      low = 0.0f;
    }
    const float product = high * factor;
    low = fma(low, factor, fma(high, factor, -product));
    high = product;
  }
  const float z = y - 1.5f;
  // tgamma(1.5 + z)
  float p = 0.016329536f;
  p = fma(p, z, -0.023706906f);
  p = fma(p, z, 0.02439063f);
  p = fma(p, z, -0.036281753f);
  p = fma(p, z, 0.058804087f);
  p = fma(p, z, -0.07771581f);
  p = fma(p, z, 0.14463378f);
  p = fma(p, z, -0.10728613f);
  p = fma(p, z, 0.4148137f);
  p = fma(p, z, 0.032338288f);
  p = fma(p, z, 0.88622695f);
  return x < 1.0f ? p / other / (high + low) : p * other * (high + low);
}
)"},
});

const Function& row_of(std::string_view name) {
  for (const Function& row : kFunctions) {
    if (row.name == name) return row;
  }
  TL_UNREACHABLE(std::string(name));
}

}  // namespace

std::string missing_function(Prelude& prelude, std::string_view name, ir::Type type) {
  TL_CHECK(type.element() == ir::kFloat32, to_string(type));
  const Function& row = row_of(name);
  const std::string& scalar = prelude.use(std::string(name), std::string(row.definition));
  if (type.is_scalar()) return scalar;
  const std::string wide = fmt::format("{}_{}", name, value_type_name(type));
  return prelude.use(wide, function_by_lanes(scalar, wide, type, row.arity));
}

}  // namespace texloom::codegen::msl
