#include "codegen/msl/msl_dialect.h"

namespace texloom::codegen::msl {

Dialect msl_dialect(const ir::Target& target) {
  return {
      .name = "Metal's language",
      .vector_widths = {2, 3, 4},
      .vector_conditions = VectorConditions::Bools,
      .half = target.features.float16_arithmetic ? HalfSupport::Values : HalfSupport::Memory,
      .bools_in_memory = false,
      .float64 = false,
      .int64 = true,
      .alignment = 16,
      .private_alignment = 16,
  };
}

}  // namespace texloom::codegen::msl
