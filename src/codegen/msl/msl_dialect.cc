#include "codegen/msl/msl_dialect.h"

namespace texloom::codegen::msl {

Dialect msl_dialect(const ir::Target& target) {
  return {
      .name = "Metal's language",
      .vector_widths = {2, 3, 4},
      .vector_conditions = VectorConditions::Bools,
      .functions = FunctionSet::all().without_dots().without(
          {ir::Intrinsic::Cbrt, ir::Intrinsic::Erf, ir::Intrinsic::Erfc, ir::Intrinsic::Expm1,
           ir::Intrinsic::Hypot, ir::Intrinsic::Log1p, ir::Intrinsic::NativeRecip}),
      .defines_functions = true,
      .half = target.features.float16_arithmetic ? HalfSupport::Values : HalfSupport::Memory,
      .bfloat16 = target.language >= ir::LanguageVersion{3, 1},
      .bools_in_memory = false,
      .float64 = false,
      .int64 = true,
      .shuffles = true,
      .fragments = target.features.matrix_unit == ir::MatrixUnit::Simdgroup,
      .alignment = 16,
      .private_alignment = 16,
      .without_float64 = "compute it in float32, or for the target \"opencl\"",
  };
}

}  // namespace texloom::codegen::msl
