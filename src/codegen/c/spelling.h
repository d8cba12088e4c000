// Spells types, constants and operators in the C-like syntax that OpenCL C and Metal share.
#pragma once

#include <string>
#include <string_view>

#include "ir/expr.h"

namespace texloom::codegen {

// "float", "uchar4", "bool", "half".
std::string value_type_name(ir::Type type);
// The element type of an array in memory: "half" for float16, "bfloat" for bfloat16, "uchar" for
// bool.
std::string memory_type_name(ir::Type element);

// A literal of exactly the constant's type and value.
std::string literal(const ir::IntImm& constant);
std::string literal(const ir::FloatImm& constant);

// Binding strength, from the conditional operator to the postfix operators.
enum class Precedence : uint8_t {
  Conditional,
  Or,
  And,
  BitOr,
  BitXor,
  BitAnd,
  Equality,
  Relation,
  Shift,
  Sum,
  Product,
  Unary,
  Postfix,
};

// How a binary operator of legalized operands is written.
struct OperatorSpelling {
  std::string_view text;
  bool infix = false;  // else a call of the function `text`
  Precedence precedence = Precedence::Postfix;
  // Operands that bind less tightly are put in parentheses. Adds more parentheses than C requires
  // where people confuse its precedences and compilers warn: (a & b) | c, (a && b) || c, (a << 1) +
  // b.
  Precedence left = Precedence::Conditional, right = Precedence::Conditional;
};
// FloorDiv and FloorMod are functions: see prelude.h.
OperatorSpelling operator_spelling(ir::BinaryOp op, ir::Type operands);

// ".x" to ".w" for up to four lanes, else ".s0" to ".sf".
std::string lane_suffix(int lanes, int64_t lane);

}  // namespace texloom::codegen
