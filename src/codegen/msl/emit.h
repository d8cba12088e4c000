// Emits sources in Metal's language.
#pragma once

#include <vector>

#include "codegen/compiled_code.h"
#include "ir/program.h"
#include "ir/target/target.h"
#include "support/function_ref.h"

namespace texloom::codegen::msl {

// One source for each kernel of the program, which was legalized for the target.
// The options of a source are the language version, as -std=metal2.3, and, if the kernel relies on
// the number of threads in a SIMD-group, this number, as -simd-width=32.
std::vector<CompiledCode> emit(const ir::Program& program, const ir::Target& target,
                               FunctionRef<void()> interruption);

}  // namespace texloom::codegen::msl
