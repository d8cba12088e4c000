// The dialect of a language that does not exist, and unlike C in all that a dialect can say: the
// seam of backends has a second kind of user before LLVM and SPIR-V are there.
#pragma once

#include <vector>

#include "codegen/compiled_code.h"
#include "codegen/legalize/dialect.h"
#include "ir/program.h"
#include "ir/target/target.h"

namespace texloom::codegen::toy {

// Vectors of up to 64 lanes, each array of one type of elements, which have at least 32 bits;
// integers that wrap; foreign code as symbols; some functions are missing.
inline Dialect toy_dialect(const ir::Target&) {
  return {
      .name = "Toy",
      .vector_widths = {2, 4, 8, 16, 32, 64},
      .vector_conditions = VectorConditions::Bools,
      .pointers = PointerModel::Logical,
      .integers = IntegerRules::Wraps,
      .foreign = ForeignCode::Symbols,
      .functions = FunctionSet::all().without({ir::Intrinsic::Erf, ir::Intrinsic::Tgamma}),
      .storage_bits = 32,
      .float64 = true,
      .alignment = 256,
      .private_alignment = 256,
  };
}

// One code of all kernels, as of a compiler of machine code: its bytes are their names.
inline std::vector<CompiledCode> emit(const ir::Program& program) {
  CompiledCode code{.format = KernelFormat::NativeObject, .bytes = "toy"};
  for (std::size_t i = 0; i < program.kernels.size(); ++i) {
    code.bytes += " " + program.kernels[i].name;
    code.entries.push_back({i, program.kernels[i].name});
    code.text += to_string(program.kernels[i]);
  }
  return {code};
}

}  // namespace texloom::codegen::toy
