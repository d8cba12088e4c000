// IEEE half arithmetic in C++, as the reference for generated kernels.
#pragma once

#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

namespace texloom::codegen::opencl::testing {

inline float half_to_float(uint16_t bits) {
  _Float16 value;
  std::memcpy(&value, &bits, sizeof(value));
  return static_cast<float>(value);
}

template <class Wide>
uint16_t to_half(Wide wide) {
  const auto value = static_cast<_Float16>(wide);
  uint16_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline bool is_nan(uint16_t bits) { return (bits & 0x7fff) > 0x7c00; }

inline std::vector<uint16_t> all_halves() {
  std::vector<uint16_t> halves(65536);
  std::iota(halves.begin(), halves.end(), uint16_t{0});
  return halves;
}

}  // namespace texloom::codegen::opencl::testing
