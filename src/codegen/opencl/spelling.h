// How OpenCL C spells types, constants and operators.
#pragma once

#include <string>
#include <string_view>

#include "ir/expr.h"

namespace texloom::codegen::opencl {

// "float", "uchar4", "bool"; "half", of which OpenCL C has values with cl_khr_fp16 alone.
std::string value_type_name(ir::Type type);
// The element type of an array in memory: "half" for float16, "uchar" for bool.
std::string memory_type_name(ir::Type element);
// "__global", "__local", "__private".
std::string_view address_space(ir::MemoryScope scope);

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

// How a binary operator of legalised operands is written.
struct OperatorSpelling {
  std::string_view text;
  bool infix = false;  // else a call of the function `text`
  Precedence precedence = Precedence::Postfix;
  // What binds less goes into parentheses. Where people mistake the precedences of C, and compilers
  // warn of it, that is more than C asks for: (a & b) | c, (a && b) || c, (a << 1) + b.
  Precedence left = Precedence::Conditional, right = Precedence::Conditional;
};
// FloorDiv and FloorMod are no operators of OpenCL C: see prelude.h.
OperatorSpelling operator_spelling(ir::BinaryOp op, ir::Type operands);

// ".x" to ".w" for up to four lanes, else ".s0" to ".sf".
std::string lane_suffix(int lanes, int64_t lane);

}  // namespace texloom::codegen::opencl
