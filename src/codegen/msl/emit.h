// Emits sources in Metal's language.
#pragma once

#include <vector>

#include "codegen/compiled_code.h"
#include "ir/program.h"
#include "ir/target/target.h"
#include "support/function_ref.h"

namespace texloom::codegen::msl {

// One source for each kernel of the program, which was legalized for the target.
// Their options are the version of the language, as -std=metal2.3, and, as -simd-width=32, the
// threads of a SIMD-group that the kernel relies on, if it does.
std::vector<CompiledCode> emit(const ir::Program& program, const ir::Target& target,
                               FunctionRef<void()> interruption);

}  // namespace texloom::codegen::msl
