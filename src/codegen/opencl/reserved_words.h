// Lists the words of OpenCL C that cannot be identifiers.
#pragma once

#include "codegen/c/names.h"

namespace texloom::codegen::opencl {

// The keywords, types, built-in functions and macros of OpenCL C, and the names that the printer
// itself uses (those that begin with "tl_").
const ReservedWords& reserved_words();

}  // namespace texloom::codegen::opencl
