#include "codegen/llvm/llvm_dialect.h"

namespace texloom::codegen::native {

namespace {

// LLVM has vectors of any width.
constexpr VectorWidths kWidths{2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17,
                               18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33,
                               34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49,
                               50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64};

}  // namespace

Dialect llvm_dialect(const ir::Target&) {
  return {
      .name = "LLVM's intermediate representation",
      .vector_widths = kWidths,
      .vector_conditions = VectorConditions::Bools,
      .integers = IntegerRules::Wraps,
      .foreign = ForeignCode::Symbols,
      .half = HalfSupport::Memory,
      .bfloat16 = true,
      .bools_in_memory = false,
      .float64 = true,
      .int64 = true,
      .vector_trigonometry = true,
      .alignment = 16,  // of the arguments of the driver "host"
      .private_alignment = 64,
  };
}

}  // namespace texloom::codegen::native
