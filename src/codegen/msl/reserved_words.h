// Lists the words of Metal's language that cannot be identifiers.
#pragma once

#include "codegen/c/names.h"

namespace texloom::codegen::msl {

// The keywords, types, built-in functions and macros of C++14 and of Metal's language, and the
// names that the printer itself uses (those that begin with "tl_").
const ReservedWords& reserved_words();

}  // namespace texloom::codegen::msl
