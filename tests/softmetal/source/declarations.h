// The parts of one declaration in a namespace or class, as far as the token pass needs them. C++ is
// not parsed in full, and unknown forms are left to clang.
#pragma once

#include <optional>
#include <string>

#include "tests/softmetal/source/code.h"

namespace softmetal {

struct Declaration {
  size_t first = 0;  // the first of all tokens
  size_t begin = 0;  // the first token behind `template <...>`
  size_t end = 0;    // after the last token: `;` or `}`
  bool is_template = false;
  struct TemplateParameter {
    std::string name, otherwise;  // `otherwise` is the default; may be empty
  };
  std::vector<TemplateParameter> template_parameters;

  // The members below are for functions.
  bool is_function = false;
  size_t name = 0;             // the first token of the name, which may be qualified
  size_t open = 0, close = 0;  // the parentheses of the parameters
  size_t body = 0;             // the `{`, or 0

  // The members below are for classes and enumerations.
  bool is_class = false;
  bool is_enum = false;
  size_t class_name = 0;

  bool has(const Code& code, std::string_view word, size_t until) const {
    for (size_t i = begin; i < until; ++i) {
      if (code.is(i, word)) return true;
    }
    return false;
  }
};

// Returns the position of the class's name, `B` in `A::B<T>::f`, for a member that is defined
// outside its class. Returns no value if the name is not qualified.
std::optional<size_t> class_of_member(const Code& code, const Declaration& d);

// Reads the declaration at `begin`, at most up to `limit`.
Declaration read_declaration(const Code& code, size_t begin, size_t limit);

// Splits the range `begin` to `end` at commas, except those inside brackets or template arguments.
std::vector<std::pair<size_t, size_t>> split_at_commas(const Code& code, size_t begin, size_t end);

}  // namespace softmetal
