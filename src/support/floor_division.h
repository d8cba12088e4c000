// Integer division that rounds toward minus infinity. The remainder has the divisor's sign.
#pragma once

#include <cstdint>

namespace texloom {

// Requires that `b` is not 0 and that the quotient is representable. Only INT64_MIN / -1 is not.
constexpr int64_t floor_div(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return a % b != 0 && ((a < 0) != (b < 0)) ? quotient - 1 : quotient;
}
constexpr int64_t floor_mod(int64_t a, int64_t b) {
  const int64_t remainder = a % b;
  return remainder != 0 && ((remainder < 0) != (b < 0)) ? remainder + b : remainder;
}

}  // namespace texloom
