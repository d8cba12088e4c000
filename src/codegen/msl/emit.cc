#include "codegen/msl/emit.h"

#include <string>

#include "codegen/c/source_codes.h"
#include "codegen/msl/print.h"
#include "ir/analysis/limits.h"

namespace texloom::codegen::msl {
namespace {

std::vector<std::string> options(const ir::Kernel& kernel, const ir::Target& target) {
  std::vector<std::string> list = {"-std=metal" + to_string(target.language)};
  if (ir::relies_on_simd_width(kernel, target))
    list.push_back("-simd-width=" + std::to_string(target.limits.simd_width));
  return list;
}

}  // namespace

std::vector<CompiledCode> emit(const ir::Program& program, const ir::Target& target,
                               FunctionRef<void()> interruption) {
  return source_codes(program, target, {KernelFormat::Msl, print, options}, interruption);
}

}  // namespace texloom::codegen::msl
