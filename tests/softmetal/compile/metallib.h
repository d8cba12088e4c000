// Compiled libraries as files: what softmetal-compile writes, and newLibraryWithData reads. The
// format is softmetal's own, not Apple's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tests/softmetal/compile/compiler.h"

namespace softmetal {

// The version of macOS that the software Metal is like.
inline constexpr int kSystem = 15;

struct CompiledLibrary {
  std::string source;  // for messages about other values of function constants
  CompileOptions options;
  Compilation compilation;
  int needed_system = kSystem;  // older ones load the library, and make no pipelines of it
};

std::string write_metallib(const CompiledLibrary& library);
// Nothing with `problem` if the bytes are no library, or one of another toolchain. Runs no
// compiler.
std::optional<CompiledLibrary> read_metallib(std::string_view bytes, std::string& problem);

}  // namespace softmetal
