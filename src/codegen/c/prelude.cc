#include "codegen/c/prelude.h"

#include <fmt/format.h>

#include <utility>

#include "codegen/c/spelling.h"
#include "support/check.h"

namespace texloom::codegen {

using ir::BinaryOp;
using ir::Type;

namespace {

// A true comparison yields 1 for scalars, but -1 in the lanes of a vector.
std::string floor_div_body(const std::string& type, bool scalar) {
  const char* correction =
      scalar ? "- (q * b != a && (a ^ b) < 0)" : "+ ((q * b != a) & ((a ^ b) < 0))";
  return fmt::format("  const {} q = a / b;\n  return q {};\n", type, correction);
}

// A remainder has the sign of the divisor.
std::string floor_mod_body(const std::string& type, bool scalar) {
  const char* result =
      scalar ? "r != 0 && (r ^ b) < 0 ? r + b : r" : "r + (((r != 0) & ((r ^ b) < 0)) & b)";
  return fmt::format("  const {} r = a % b;\n  return {};\n", type, result);
}

}  // namespace

const std::string& Prelude::floor_operation(BinaryOp op, Type type) {
  TL_CHECK(type.is_int() && type.bits >= 32, to_string(type));
  const bool division = op == BinaryOp::FloorDiv;
  const std::string value = value_type_name(type);
  const std::string name = fmt::format("tl_{}_{}", division ? "floordiv" : "floormod", value);
  const std::string body =
      division ? floor_div_body(value, type.is_scalar()) : floor_mod_body(value, type.is_scalar());
  return use(name, fmt::format("{0} {1}({0} a, {0} b) {{\n{2}}}\n", value, name, body));
}

const std::string& Prelude::use(const std::string& name, std::string definition) {
  return definitions_.insert_or_assign(name, std::move(definition)).first->first;
}

std::string Prelude::text() const {
  std::string all;
  for (const auto& [name, definition] : definitions_) all += definition + "\n";
  return all;
}

}  // namespace texloom::codegen
