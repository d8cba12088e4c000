// Searches texts that are lists of words: extensions of a device, options of a compiler.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace texloom::hal::opencl {

// Whether `word` is one of the words, which are separated by white space.
inline bool has_word(std::string_view words, std::string_view word) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  while (!words.empty()) {
    const std::size_t end = std::min(words.find_first_of(kSpace), words.size());
    if (end != 0 && words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

}  // namespace texloom::hal::opencl
