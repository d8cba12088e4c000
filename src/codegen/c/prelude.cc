#include "codegen/c/prelude.h"

#include <fmt/format.h>

#include <utility>

#include "codegen/c/spelling.h"
#include "support/check.h"

namespace texloom::codegen {

using ir::BinaryOp;
using ir::Type;

namespace {

// Sets all bits of each lane in which the remainder is not 0 and its sign differs from the
// divisor's. Uses sign bits, because vector comparisons give different values in each language. A
// remainder is never the least number, so -r does not overflow.
std::string needs_correction(Type type) {
  return fmt::format("(((r | -r) & (r ^ b)) >> {})", type.bits - 1);
}

std::string floor_div_body(const std::string& name, Type type) {
  if (type.is_scalar()) {
    return fmt::format("  const {} q = a / b;\n  return q - (q * b != a && (a ^ b) < 0);\n", name);
  }
  return fmt::format("  const {0} q = a / b;\n  const {0} r = a - q * b;\n  return q + {1};\n",
                     name, needs_correction(type));
}

// A FloorMod has the sign of the divisor.
std::string floor_mod_body(const std::string& name, Type type) {
  const std::string result = type.is_scalar() ? "r != 0 && (r ^ b) < 0 ? r + b : r"
                                              : fmt::format("r + ({} & b)", needs_correction(type));
  return fmt::format("  const {} r = a % b;\n  return {};\n", name, result);
}

}  // namespace

const std::string& Prelude::floor_operation(BinaryOp op, Type type) {
  TL_CHECK(type.is_int() && type.bits >= 32, to_string(type));
  const bool division = op == BinaryOp::FloorDiv;
  const std::string value = value_type_name(type);
  const std::string name = fmt::format("tl_{}_{}", division ? "floordiv" : "floormod", value);
  const std::string body = division ? floor_div_body(value, type) : floor_mod_body(value, type);
  return use(name, fmt::format("{0} {1}({0} a, {0} b) {{\n{2}}}\n", value, name, body));
}

const std::string& Prelude::use(const std::string& name, std::string definition) {
  return definitions_.insert_or_assign(name, std::move(definition)).first->first;
}

void Prelude::add(const Prelude& other) {
  for (const auto& [name, definition] : other.definitions_) use(name, definition);
}

std::string Prelude::text() const {
  std::string all;
  for (const auto& [name, definition] : definitions_) all += definition + "\n";
  return all;
}

}  // namespace texloom::codegen
