// Makes the codes of C-like languages: one source for each kernel. So devices can compile kernels
// in parallel, and after a change of one kernel the other kernels are still in the devices' caches.
#pragma once

#include <string>
#include <vector>

#include "codegen/compiled_code.h"
#include "ir/program.h"
#include "ir/target/target.h"
#include "support/function_ref.h"

namespace texloom::codegen {

struct PrintedKernel {
  std::string name;    // the name of the kernel function in `source`
  std::string source;  // a whole translation unit
};

struct SourceLanguage {
  KernelFormat format;
  // Spells a kernel of a legalized program, with the program's foreign text before it.
  PrintedKernel (*print)(const ir::Kernel& kernel, const std::vector<ir::Foreign>& foreign,
                         const ir::Target& target);
  // The options that the device's compiler gets.
  std::vector<std::string> (*options)(const ir::Kernel& kernel, const ir::Target& target);
};

// `interruption` is called before each kernel.
std::vector<CompiledCode> source_codes(const ir::Program& program, const ir::Target& target,
                                       const SourceLanguage& language,
                                       FunctionRef<void()> interruption);

}  // namespace texloom::codegen
