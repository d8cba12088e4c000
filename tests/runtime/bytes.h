// Converts the contents of buffers and textures to and from bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace texloom::hal {

using Bytes = std::vector<std::byte>;

inline Bytes random_bytes(std::size_t size, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::vector<std::uint64_t> words(size / 8 + 1);
  for (std::uint64_t& word : words) word = engine();
  const auto bytes = std::as_bytes(std::span(words)).first(size);
  return {bytes.begin(), bytes.end()};
}

template <typename T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}
template <typename T>
std::span<std::byte> writable_bytes_of(std::vector<T>& values) {
  return std::as_writable_bytes(std::span(values));
}

}  // namespace texloom::hal
