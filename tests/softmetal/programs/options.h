// Options of both programs.
#pragma once

#include <string>

#include "tests/softmetal/compile/compiler.h"

namespace softmetal {

// Returns whether `argument` is a compiler option; if so, applies it, or sets `problem`.
bool read_compile_option(const std::string& argument, CompileOptions& options,
                         std::string& problem);

// Reads a source file; sets its name for messages, and the folders for its #includes.
bool read_source(const std::string& file, std::string& source, CompileOptions& options,
                 std::string& problem);

}  // namespace softmetal
