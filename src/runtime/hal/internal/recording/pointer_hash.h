// Hashes addresses for tables with open addressing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace texloom::hal {

// `places` is a power of two of at most 2^32. Fibonacci hashing (Knuth, The Art of Computer
// Programming, section 6.4): high bits of the product with 2^64 divided by the golden ratio.
inline std::size_t hash_place(const void* object, std::size_t places) {
  const std::uint64_t product = reinterpret_cast<std::uintptr_t>(object) * 0x9e3779b97f4a7c15u;
  return static_cast<std::size_t>(product >> 32) & (places - 1);
}

}  // namespace texloom::hal
