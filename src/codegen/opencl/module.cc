#include "codegen/opencl/module.h"

#include <utility>

#include "codegen/opencl/legalize.h"
#include "codegen/opencl/print.h"

namespace texloom::codegen::opencl {

CompiledModule compile(const ir::Program& program) {
  CompiledModule result{legalize(program), {}};
  for (const ir::Kernel& kernel : result.program.kernels) {
    PrintedKernel printed = print(kernel);
    result.kernels.push_back({std::move(printed.name), kernel.grid, kernel.block, kernel.params,
                              std::move(printed.source)});
  }
  return result;
}

}  // namespace texloom::codegen::opencl
