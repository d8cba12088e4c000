// The dialect of an invented language that differs from C in everything that a dialect can state.
// It tests the interface of backends for LLVM, SPIR-V and the like before such backends exist.
#pragma once

#include <vector>

#include "codegen/compiled_code.h"
#include "codegen/legalize/dialect.h"
#include "ir/program.h"
#include "ir/target/target.h"

namespace texloom::codegen::toy {

// Vectors have up to 64 lanes. All accesses of an array have one type. Elements in memory have at
// least 32 bits. Integers wrap. Foreign code is called by symbol. Some functions are missing.
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

// Emits one code object for all kernels, as a compiler to machine code does. Its bytes are the
// names of the kernels.
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
