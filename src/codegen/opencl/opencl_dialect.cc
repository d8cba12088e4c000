#include "codegen/opencl/opencl_dialect.h"

namespace texloom::codegen::opencl {

Dialect opencl_dialect(const ir::Target& target) {
  return {
      .name = "OpenCL C",
      .vector_widths = {2, 3, 4, 8, 16},
      .vector_conditions = VectorConditions::Masks,
      .functions = FunctionSet::all().without_dots(),
      .half = target.features.float16_arithmetic ? HalfSupport::Values : HalfSupport::Memory,
      .bools_in_memory = false,
      .float64 = target.features.float64,
      .int64 = true,
      .fragments = target.features.matrix_unit == ir::MatrixUnit::MmaSync,
      // Devices of compute capability 8.0 and later have both.
      .async_copies = target.features.matrix_unit == ir::MatrixUnit::MmaSync,
      .device_fence = target.features.device_fence,
      .vector_trigonometry = target.quirks.vector_trigonometry,
      .alignment = 16,
      .private_alignment = 64,
  };
}

}  // namespace texloom::codegen::opencl
