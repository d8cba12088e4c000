#include "codegen/compiled_code.h"

#include <utility>

namespace texloom::codegen {

ir::Program kernels_alone(const ir::Program& program, std::vector<ir::Kernel> kernels) {
  ir::Program alone;
  alone.name = program.name;
  alone.stage = program.stage;
  alone.symbols = program.symbols;
  alone.foreign = program.foreign;
  alone.body = ir::make_empty();
  alone.kernels = std::move(kernels);
  return alone;
}

}  // namespace texloom::codegen
