#include "codegen/opencl/half_functions.h"

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

std::string widen_halves(Prelude& prelude, int lanes) {
  const std::string name = fmt::format("tl_widen_half{}", lanes);
  return prelude.use(name, fmt::format("float{0} {1}(ushort{0} h) {{\n"
                                       "  return vload_half{0}(0, (__private const half*)&h);\n"
                                       "}}\n",
                                       lanes, name));
}

std::string narrow_to_halves(Prelude& prelude, ir::Type from) {
  const std::string value = value_type_name(from);
  const std::string name = "tl_narrow_half_" + value;
  return prelude.use(name, fmt::format("ushort{0} {1}({2} x) {{\n"
                                       "  ushort{0} h;\n"
                                       "  vstore_half{0}_rte(x, 0, (__private half*)&h);\n"
                                       "  return h;\n"
                                       "}}\n",
                                       from.lanes, name, value));
}

std::string round_to_odd(Prelude& prelude, int lanes) {
  const std::string width = lanes == 1 ? "" : fmt::format("{}", lanes);
  const std::string name = "tl_round_to_odd" + width;
  return prelude.use(
      name,
      fmt::format("float{0} {1}(double{0} x) {{\n"
                  "  const float{0} f = convert_float{0}_rtz(x);\n"
                  "  const uint{0} inexact = convert_uint{0}(convert_double{0}(f) != x) & 1u;\n"
                  "  return as_float{0}(as_uint{0}(f) | inexact);\n"
                  "}}\n",
                  width, name));
}

}  // namespace texloom::codegen::opencl
