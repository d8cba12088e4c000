#include "codegen/opencl/emit.h"

#include <string>

#include "codegen/c/source_codes.h"
#include "codegen/opencl/print.h"

namespace texloom::codegen::opencl {
namespace {

std::vector<std::string> options(const ir::Kernel&, const ir::Target&) { return {"-cl-std=CL1.2"}; }

}  // namespace

std::vector<CompiledCode> emit(const ir::Program& program, const ir::Target& target,
                               FunctionRef<void()> interruption) {
  return source_codes(program, target, {KernelFormat::OpenClC, print, options}, interruption);
}

}  // namespace texloom::codegen::opencl
