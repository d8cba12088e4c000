// Reads a file of the binary cache (src/runtime/hal/internal/executables/binary_cache.cc).
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "runtime/hal/binary_cache.h"

namespace texloom::hal {

struct CacheEntry {
  BinaryKey key;
  std::string binary;
};

// Reads an intact file: a header of 48 bytes, whose third word is the length of the key's text,
// that text, and the binary.
inline CacheEntry read_entry(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(file), {});
  std::uint64_t length = 0;
  std::memcpy(&length, whole.data() + 16, sizeof length);
  CacheEntry entry{.key = {}, .binary = whole.substr(48 + length)};
  std::string_view text = std::string_view(whole).substr(48, length);
  while (!text.empty()) {  // "5:field"
    std::size_t bytes = 0;
    const char* colon = std::from_chars(text.data(), text.data() + text.size(), bytes).ptr;
    text.remove_prefix(static_cast<std::size_t>(colon - text.data()) + 1);
    entry.key.add(text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
  return entry;
}

}  // namespace texloom::hal
