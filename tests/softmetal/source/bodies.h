// Bodies of functions.
#pragma once

#include <set>
#include <string>

#include "tests/softmetal/source/declarations.h"

namespace softmetal {

struct BodyContext {
  bool of_kernel = false;
  bool of_template = false;       // or of a class template's method
  bool of_device_method = false;  // returns references to device memory through `this`
  std::set<std::string, std::less<>>* calls = nullptr;  // gets the names of called functions
};

// Rewrites the body in the braces at `open`: threadgroup variables, operands of `?:`, returns of
// device methods. Reports pointers without an address space.
void rewrite_body(Code& code, size_t open, const BodyContext& context);

// Reports statements, types and words that Metal lacks, anywhere in the program, and features of
// later versions of the language.
void check_words(Code& code, int version);

}  // namespace softmetal
