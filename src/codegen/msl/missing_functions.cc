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

// The polynomial is a least-squares fit in Chebyshev points, of relative error below 2^-26. The
// comment above it gives the function that it approximates. The functions keep the error bounds of
// OpenCL C, which tests/python/metal/test_functions.py checks.
constexpr auto kFunctions = std::to_array<Function>({
    {"tl_nextafter", 2, R"(float tl_nextafter(float x, float y) {
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  if (x == 0.0f) return copysign(as_type<float>(1), y);
  const int bits = as_type<int>(x);
  return as_type<float>((x < y) == (x > 0.0f) ? bits + 1 : bits - 1);
}
)"},
    // Computes the function from its value in 1..2, by the recurrence. `high + low` is the product
    // of the factors, with twice the digits of float32. After 20 factors, the product so far moves
    // to `other`: a product of 42 factors could overflow.
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
