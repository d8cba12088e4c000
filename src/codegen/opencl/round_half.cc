#include "codegen/opencl/round_half.h"

#include <fmt/format.h>

#include "codegen/c/spelling.h"

namespace texloom::codegen::opencl {

std::string round_to_half(Prelude& prelude, ir::Type from) {
  const std::string value = value_type_name(from);
  const std::string result = value_type_name(ir::kFloat32.with_lanes(from.lanes));
  const std::string width = from.is_scalar() ? "" : fmt::format("{}", from.lanes);
  const std::string name = "tl_round_half_" + value;
  // Without cl_khr_fp16, half exists only in memory, not in variables.
  return prelude.use(name, fmt::format("{0} {1}({2} x) {{\n"
                                       "  ushort h[{3}];\n"
                                       "  vstore_half{4}_rte(x, 0, (__private half*)h);\n"
                                       "  return vload_half{4}(0, (__private const half*)h);\n"
                                       "}}\n",
                                       result, name, value, from.lanes, width));
}

}  // namespace texloom::codegen::opencl
