// Options that the two programs share.
#pragma once

#include <string>

#include "tests/softmetal/compile/compiler.h"

namespace softmetal {

// Whether `argument` is an option of the compiler; if so, it is applied, or `problem` says why not.
bool read_compile_option(const std::string& argument, CompileOptions& options,
                         std::string& problem);

// Reads a source file, and sets what messages call it and where its #includes are searched.
bool read_source(const std::string& file, std::string& source, CompileOptions& options,
                 std::string& problem);

}  // namespace softmetal
