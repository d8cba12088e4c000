// Emits sources in OpenCL C.
#pragma once

#include <vector>

#include "codegen/compiled_code.h"
#include "ir/program.h"
#include "ir/target/target.h"
#include "support/function_ref.h"

namespace texloom::codegen::opencl {

// One source for each kernel of the program, which was legalized for the target.
std::vector<CompiledCode> emit(const ir::Program& program, const ir::Target& target,
                               FunctionRef<void()> interruption);

}  // namespace texloom::codegen::opencl
