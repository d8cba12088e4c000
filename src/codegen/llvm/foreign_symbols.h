// The functions that kernels for the target llvm may call, and where their code is from.
#pragma once

#include <string_view>

#include "ir/program.h"
#include "ir/target/target.h"

namespace texloom::codegen::native {

// The library of micro-kernels, whose code is in the plug-in (mmt4d.h).
inline constexpr std::string_view kMicrokernels = "mmt4d";

// Whether a foreign symbol's library is code of LLVM: the path of a file of bitcode (.bc) or of
// text (.ll), or the text itself.
inline bool is_code_file(std::string_view library) {
  return library.find('\n') == library.npos &&
         (library.ends_with(".bc") || library.ends_with(".ll"));
}
inline bool is_imported_code(std::string_view library) {
  return is_code_file(library) || library.find("define ") != library.npos;
}

// Fails with NotProvided if a foreign symbol of the program is neither a micro-kernel that the
// target can run nor a function of imported code, with FileError for a file that is not there, and
// with BadForeignCall if the types of the call are not those of micro-kernels.
void check_symbols(const ir::Program& program, const ir::Target& target);

}  // namespace texloom::codegen::native
