// One declaration of a namespace or of a class, taken apart as far as the token pass needs: C++ is
// not parsed, and what looks like nothing known is left to clang.
#pragma once

#include <optional>
#include <string>

#include "tests/softmetal/source/code.h"

namespace softmetal {

struct Declaration {
  size_t first = 0;  // of all tokens
  size_t begin = 0;  // behind `template <...>`
  size_t end = 0;    // behind the last token: `;` or `}`
  bool is_template = false;
  struct TemplateParameter {
    std::string name, otherwise;  // what it is where no argument is given; may be empty
  };
  std::vector<TemplateParameter> template_parameters;

  // Of functions: the name, its parameters, what follows these, the body's braces.
  bool is_function = false;
  size_t name = 0;             // the first token of the name, which may be qualified
  size_t open = 0, close = 0;  // the parentheses of the parameters
  size_t body = 0;             // the `{`, or 0

  // Of classes: the `{` and the name.
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

// The name of the class in whose body a function is declared that is defined outside of it: `B` of
// `A::B<T>::f`. Nothing if the name is not qualified.
std::optional<size_t> class_of_member(const Code& code, const Declaration& d);

// Reads the declaration at `begin`, at most up to `limit`.
Declaration read_declaration(const Code& code, size_t begin, size_t limit);

// The ranges between the commas of `begin` to `end`, none of which is inside of brackets or
// template arguments.
std::vector<std::pair<size_t, size_t>> split_at_commas(const Code& code, size_t begin, size_t end);

}  // namespace softmetal
