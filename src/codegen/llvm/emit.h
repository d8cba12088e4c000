// Has the LLVM plug-in make native code of kernels.
#pragma once

#include <string>
#include <vector>

#include "codegen/compiled_code.h"
#include "ir/program.h"
#include "ir/target/target.h"
#include "support/function_ref.h"

namespace texloom::codegen::native {

// One shared object for all kernels of a legalized program. Fails with NoLlvm if the plug-in is not
// installed, and with UnknownTarget for a processor that LLVM does not know.
std::vector<CompiledCode> emit(const ir::Program& program, const ir::Target& target,
                               FunctionRef<void()> interruption);

// A processor, as LLVM knows it.
struct MachineDescription {
  std::string architecture;           // "x86_64", "aarch64"
  std::vector<std::string> features;  // "avx2", "fma"
};

// The machine of a target of kind Llvm. Fails as emit() does.
MachineDescription describe_machine(const ir::Target& target);

}  // namespace texloom::codegen::native
