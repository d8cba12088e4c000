// Converts IEEE 754 binary16 numbers on processors without support for them.
#pragma once

#include <cstdint>

namespace texloom {

// Converts exactly; NaN stays NaN.
float float_of_half(std::uint16_t half);

// Rounds to nearest, ties to even; numbers that are too large become infinite. NaN stays NaN.
std::uint16_t half_of_float(float value);

}  // namespace texloom
