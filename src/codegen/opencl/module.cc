#include "codegen/opencl/module.h"

#include <stdexcept>
#include <utility>

#include "codegen/opencl/legalize.h"
#include "codegen/opencl/print.h"
#include "support/dump.h"

namespace texloom::codegen::opencl {

namespace {

CompiledModule generate(const ir::Program& program) {
  CompiledModule result{legalize(program), {}};
  for (const ir::Kernel& kernel : result.program.kernels) {
    PrintedKernel printed = print(kernel);
    result.kernels.push_back({std::move(printed.name), kernel.grid, kernel.block, kernel.params,
                              std::move(printed.source)});
  }
  return result;
}

}  // namespace

CompiledModule compile(const ir::Program& program) {
  try {
    return generate(program);
  } catch (const std::logic_error& error) {  // an InternalError, or one of the library's
    throw with_dump(error, "--pass=legalize --emit=opencl",
                    [&] { return to_string(program, {.locations = true}); });
  }
}

}  // namespace texloom::codegen::opencl
