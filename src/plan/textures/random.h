// Pseudorandom numbers: the same sequence on every machine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace texloom::plan {

// The generator splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

  // From 0 to count - 1, for a small positive count.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(next() % count); }

 private:
  std::uint64_t state_;
};

}  // namespace texloom::plan
