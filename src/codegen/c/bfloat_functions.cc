#include "codegen/c/bfloat_functions.h"

#include <fmt/format.h>

#include "codegen/c/spelling.h"

namespace texloom::codegen {

using ir::Type;

namespace {

std::string with_lanes(const char* stem, int lanes) {
  return lanes == 1 ? stem : fmt::format("{}{}", stem, lanes);
}

}  // namespace

// Adding 0x7fff or, if the last kept bit is odd, 0x8000 rounds to even. `n` is 1 for a NaN, to
// which nothing is added. No comparison is needed: the results of comparing vectors have types that
// differ among languages.
const std::string& narrow_to_bfloats(Prelude& prelude, const BitSpelling& spelling, int lanes) {
  const Type wide = Type::u(32).with_lanes(lanes), bits = Type::u(16).with_lanes(lanes);
  const std::string name = with_lanes("tl_narrow_bfloat", lanes);
  return prelude.use(
      name,
      fmt::format("{0} {1}({2} x) {{\n"
                  "  const {3} b = {4};\n"
                  "  const {3} n = ((b & 0x7fffffffu) + 0x7fffffu) >> 31;\n"
                  "  const {3} rounded = (b + (0x7fffu + ((b >> 16) & 1u)) * (1u - n)) >> 16;\n"
                  "  return {5};\n"
                  "}}\n",
                  value_type_name(bits), name, value_type_name(ir::kFloat32.with_lanes(lanes)),
                  value_type_name(wide), spelling.reinterpreted(wide, "x"),
                  spelling.converted(bits, "(rounded | (n << 6))")));
}

const std::string& widen_bfloats(Prelude& prelude, const BitSpelling& spelling, int lanes) {
  const Type wide = Type::u(32).with_lanes(lanes), floats = ir::kFloat32.with_lanes(lanes);
  const std::string name = with_lanes("tl_widen_bfloat", lanes);
  return prelude.use(
      name,
      fmt::format("{0} {1}({2} b) {{\n"
                  "  return {3};\n"
                  "}}\n",
                  value_type_name(floats), name, value_type_name(Type::u(16).with_lanes(lanes)),
                  spelling.reinterpreted(floats, spelling.converted(wide, "b") + " << 16")));
}

}  // namespace texloom::codegen
