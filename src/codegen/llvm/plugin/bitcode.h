// The bitcode of the micro-kernels, for all architectures, which is part of the plug-in.
#pragma once

#include <string_view>

namespace texloom::codegen::native {

struct Bitcode {
  const char* target;        // of microkernels/variants.def
  const char* architecture;  // "x86_64", "aarch64"
  const char *begin, *end;
};

// Throws std::runtime_error if there is none.
const Bitcode& bitcode_of(std::string_view target, std::string_view architecture);

}  // namespace texloom::codegen::native
