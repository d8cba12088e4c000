#include "codegen/c/source_codes.h"

#include <utility>

namespace texloom::codegen {

std::vector<CompiledCode> source_codes(const ir::Program& program, const ir::Target& target,
                                       const SourceLanguage& language,
                                       FunctionRef<void()> interruption) {
  std::vector<CompiledCode> codes;
  for (std::size_t i = 0; i < program.kernels.size(); ++i) {
    interruption();
    const ir::Kernel& kernel = program.kernels[i];
    auto [name, source] = language.print(kernel, program.foreign, target);
    codes.push_back({.format = language.format,
                     .bytes = std::move(source),
                     .options = language.options(kernel, target),
                     .entries = {{i, std::move(name)}}});
  }
  return codes;
}

}  // namespace texloom::codegen
