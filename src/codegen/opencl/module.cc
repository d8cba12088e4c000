#include "codegen/opencl/module.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "codegen/opencl/legalize.h"
#include "codegen/opencl/print.h"
#include "support/dump.h"

namespace texloom::codegen::opencl {

namespace {

CompiledModule generate(const ir::Program& program, const ir::Target& target) {
  CompiledModule result{legalize(program, target), {}};
  for (const ir::Kernel& kernel : result.program.kernels) {
    PrintedKernel printed = print(kernel, result.program.foreign, target);
    result.kernels.push_back({std::move(printed.name), kernel.grid, kernel.block, kernel.params,
                              std::move(printed.source)});
  }
  return result;
}

}  // namespace

CompiledModule compile(const ir::Program& program, const ir::Target& target) {
  try {
    return generate(program, target);
  } catch (const std::logic_error& error) {  // an InternalError, or one of the library's
    throw with_dump(error,
                    fmt::format("--pass=legalize --emit=opencl --target='{}'", to_string(target)),
                    [&] { return to_string(program, {.locations = true}); });
  }
}

}  // namespace texloom::codegen::opencl
