#include "codegen/c/spelling.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "support/check.h"

namespace texloom::codegen {

using ir::BinaryOp;
using ir::Type;
using ir::TypeCode;

namespace {

std::string_view element_name(Type type) {
  if (type.is_bool()) return "bool";
  switch (type.bits) {
    case 8:
      return type.is_int() ? "char" : "uchar";
    case 16:
      if (type.is_float()) return type.is_half() ? "half" : "bfloat";
      return type.is_int() ? "short" : "ushort";
    case 32:
      return type.is_float() ? "float" : type.is_int() ? "int" : "uint";
    case 64:
      return type.is_float() ? "double" : type.is_int() ? "long" : "ulong";
    default:
      TL_UNREACHABLE(to_string(type));
  }
}

std::string with_sign(uint64_t magnitude, bool negative, std::string_view suffix) {
  std::string text = negative ? "-" : "";
  text += fmt::format_int(magnitude).str();
  text += suffix;
  return text;
}

}  // namespace

std::string value_type_name(Type type) {
  return type.is_scalar() ? std::string(element_name(type))
                          : fmt::format("{}{}", element_name(type), type.lanes);
}

std::string memory_type_name(Type element) {
  return value_type_name(element.is_bool() ? Type::u(8) : element);
}

std::string literal(const ir::IntImm& constant) {
  const Type type = constant.type;
  const int64_t value = constant.value;
  if (type.is_bool()) return value != 0 ? "true" : "false";
  // C has no negative literals: the minimum of a type is written as a difference.
  if (value == std::numeric_limits<int64_t>::min() && type.is_int()) {
    return "(-9223372036854775807L - 1L)";
  }
  if (value == std::numeric_limits<int32_t>::min() && type == ir::kInt32) {
    return "(-2147483647 - 1)";
  }
  const bool negative = value < 0 && type.is_int();
  const auto bits = static_cast<uint64_t>(value);
  const uint64_t magnitude = negative ? ~bits + 1 : bits;
  const std::string_view suffix =
      type.bits == 64 ? (type.is_int() ? "L" : "UL") : (type == Type::u(32) ? "u" : "");
  const std::string digits = with_sign(magnitude, negative, suffix);
  return type.bits < 32 ? fmt::format("({}){}", element_name(type), digits) : digits;
}

std::string literal(const ir::FloatImm& constant) {
  const bool wide = constant.type.bits == 64, half = constant.type.bits == 16;
  const double value = constant.value;
  if (!std::isfinite(value)) {
    // The macros NAN and INFINITY are of type float.
    const std::string_view text = std::isnan(value)     ? "NAN"
                                  : std::signbit(value) ? "-INFINITY"
                                                        : "INFINITY";
    const bool is_float = !wide && !half;
    return is_float ? std::string(text) : fmt::format("({}){}", element_name(constant.type), text);
  }
  std::string digits =
      wide ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  return wide ? digits : digits + (half ? "h" : "f");
}

OperatorSpelling operator_spelling(BinaryOp op, Type operands) {
  using enum Precedence;
  switch (op) {
    case BinaryOp::Or:
      return {"||", true, Or, BitOr, BitOr};
    case BinaryOp::And:
      return {"&&", true, And, BitOr, BitOr};
    case BinaryOp::BitOr:
      return {"|", true, BitOr, Unary, Unary};
    case BinaryOp::BitXor:
      return {"^", true, BitXor, Unary, Unary};
    case BinaryOp::BitAnd:
      return {"&", true, BitAnd, Unary, Unary};
    case BinaryOp::Eq:
      return {"==", true, Equality, Sum, Sum};
    case BinaryOp::Ne:
      return {"!=", true, Equality, Sum, Sum};
    case BinaryOp::Lt:
      return {"<", true, Relation, Sum, Sum};
    case BinaryOp::Le:
      return {"<=", true, Relation, Sum, Sum};
    case BinaryOp::Gt:
      return {">", true, Relation, Sum, Sum};
    case BinaryOp::Ge:
      return {">=", true, Relation, Sum, Sum};
    case BinaryOp::Shl:
      return {"<<", true, Shift, Unary, Unary};
    case BinaryOp::Shr:
      return {">>", true, Shift, Unary, Unary};
    case BinaryOp::Add:
      return {"+", true, Sum, Sum, Product};
    case BinaryOp::Sub:
      return {"-", true, Sum, Sum, Product};
    case BinaryOp::Mul:
      return {"*", true, Product, Product, Unary};
    case BinaryOp::Div:
      return {"/", true, Product, Product, Unary};
    case BinaryOp::Mod:
      return {"%", true, Product, Product, Unary};
    // If one operand is NaN, fmin and fmax return the other operand, as the IR requires.
    case BinaryOp::Min:
      return {operands.is_float() ? "fmin" : "min"};
    case BinaryOp::Max:
      return {operands.is_float() ? "fmax" : "max"};
    case BinaryOp::FloorDiv:
    case BinaryOp::FloorMod:
      break;
  }
  TL_UNREACHABLE("an operation of the prelude");
}

std::string lane_suffix(int lanes, int64_t lane) {
  if (lanes <= 4) return fmt::format(".{}", "xyzw"[lane]);
  return fmt::format(".s{:x}", lane);
}

}  // namespace texloom::codegen
