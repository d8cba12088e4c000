// The random draws of a sequence, which are the same on every platform for one seed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "tests/runtime/bytes.h"

namespace texloom::hal::fuzz {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t word() { return engine_(); }
  // Returns a number less than `count`, which must not be zero.
  std::uint64_t below(std::uint64_t count) { return engine_() % count; }
  std::uint32_t small(std::uint32_t count) { return static_cast<std::uint32_t>(below(count)); }
  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return low + below(high - low + 1);
  }
  bool chance(unsigned percent) { return below(100) < percent; }

  template <typename T>
  T& pick(std::vector<T>& from) {
    return from[below(from.size())];
  }
  template <typename T, std::size_t N>
  const T& pick(const std::array<T, N>& from) {
    return from[below(N)];
  }

  // Returns a number at which sizes and offsets overflow, wrap or end.
  std::uint64_t edge() {
    constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
    constexpr std::uint64_t kMax32 = std::numeric_limits<std::uint32_t>::max();
    constexpr std::array<std::uint64_t, 14> kEdges = {
        0,         1,         3,        16,       4096, kMax32, kMax32 + 1, kMax / 2, kMax / 2 + 1,
        kMax - 16, kMax - 15, kMax - 3, kMax - 1, kMax};
    return pick(kEdges);
  }
  // Usually in [0, total], sometimes far outside.
  std::uint64_t offset_in(std::uint64_t total) {
    if (chance(6)) return edge();
    return chance(10) ? total + below(3) : below(total + 1);
  }
  // Usually at most the length left after `offset`.
  std::uint64_t length_in(std::uint64_t offset, std::uint64_t total) {
    if (chance(6)) return edge();
    const std::uint64_t rest = offset < total ? total - offset : 0;
    return chance(6) ? rest + 1 + below(3) : below(rest + 1);
  }
  Bytes bytes(std::size_t count) {
    Bytes drawn(count);
    for (std::byte& each : drawn) each = static_cast<std::byte>(engine_());
    return drawn;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace texloom::hal::fuzz
