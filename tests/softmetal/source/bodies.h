// Bodies of functions.
#pragma once

#include <set>
#include <string>

#include "tests/softmetal/source/declarations.h"

namespace softmetal {

struct BodyContext {
  bool of_kernel = false;
  bool of_template = false;       // or of a method of one
  bool of_device_method = false;  // returns references of device memory through `this`
  std::set<std::string, std::less<>>* calls = nullptr;  // takes the names of called functions
};

// Rewrites the body between the braces at `open` and its end: threadgroup variables, operands of
// `?:`, returns of device methods. Reports pointers without a space.
void rewrite_body(Code& code, size_t open, const BodyContext& context);

// Statements, types and words that Metal does not have, anywhere in the program, and features that
// need a later version of the language.
void check_words(Code& code, int version);

}  // namespace softmetal
