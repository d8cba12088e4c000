// Words that users' names must not be, because C-like languages reserve them.
#pragma once

#include <span>
#include <string_view>

namespace texloom {

// Words that a language reserves, as data. A list is one text with a space before and after each
// word.
struct ReservedWords {
  std::span<const std::string_view> prefixes;  // everything that begins with one is reserved
  std::string_view vector_types;               // a list: each word, also followed by digits
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
