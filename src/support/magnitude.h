// The absolute value of any int64_t, including INT64_MIN.
#pragma once

#include <cstdint>

namespace texloom {

constexpr uint64_t magnitude(int64_t value) {
  const auto bits = static_cast<uint64_t>(value);
  return value < 0 ? 0 - bits : bits;
}

}  // namespace texloom
