// Files of compiled libraries, which softmetal-compile writes and newLibraryWithData reads. The
// format is softmetal's, not Apple's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tests/softmetal/compile/compiler.h"

namespace softmetal {

// The version of macOS that the software Metal simulates.
inline constexpr int kSystem = 15;

struct CompiledLibrary {
  std::string source;  // for messages about other values of function constants
  CompileOptions options;
  Compilation compilation;
  int needed_system = kSystem;  // older systems load the library, but create no pipelines
};

std::string write_metallib(const CompiledLibrary& library);
// Runs no compiler. If the bytes are no library, or another toolchain's, sets `problem` and returns
// no value.
std::optional<CompiledLibrary> read_metallib(std::string_view bytes, std::string& problem);

}  // namespace softmetal
