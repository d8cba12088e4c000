// IEEE 754 binary16 as processors without it compute it.
#pragma once

#include <cstdint>

namespace texloom::hal::host {

// Exact; NaN stays NaN.
float float_of_half(std::uint16_t half);

// Rounded to nearest, ties to even; what is too large becomes infinite. NaN stays NaN.
std::uint16_t half_of_float(float value);

}  // namespace texloom::hal::host
