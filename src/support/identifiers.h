// Identifiers of the text form, of C-like languages and of custom operators: their characters, and
// the words that C-like languages reserve.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

namespace texloom {

// Only ASCII characters count, whatever the locale.
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_identifier_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool is_identifier_character(char c) { return is_identifier_start(c) || is_digit(c); }

// Whether the name has the form of an identifier; it may be a reserved word.
constexpr bool is_identifier(std::string_view name) {
  return !name.empty() && is_identifier_start(name.front()) &&
         std::all_of(name.begin(), name.end(), is_identifier_character);
}

// Words that a language reserves, as data. A list is one text with a space before and after each
// word.
struct ReservedWords {
  // All words that begin with one of these prefixes are reserved.
  std::span<const std::string_view> prefixes;
  std::string_view vector_types;  // a list: words that may end in digits
  std::span<const std::string_view> lists;

  bool contains(std::string_view identifier) const;
};

// Lists of the reserved words of C, C++ and their compilers, and of what OpenCL C adds: keywords,
// types and macros, then types that vectors have.
extern const std::string_view kReservedInC;
extern const std::string_view kReservedInOpenClC;
extern const std::string_view kVectorTypesOfOpenClC;

// The words that no parameter of a kernel may have as its name in any language of kernels:
// keywords, types and macros. A parameter may hide a built-in function.
const ReservedWords& words_that_no_parameter_has();

}  // namespace texloom
