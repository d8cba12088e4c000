// The typing rules of nodes. The functions that build nodes check them; the parser and the verifier
// report violations. A rule gets the operands, or their types, and returns the first problem.
#pragma once

#include <string>

#include "ir/expr.h"

namespace texloom::ir {

// A broken rule; false if there is none.
struct TypeProblem {
  const char* format = nullptr;  // with {a} and {b} for the types, {m} and {n} for the numbers
  Type a = {}, b = {};
  int m = 0, n = 0;

  explicit operator bool() const { return format != nullptr; }
};
// Lower case, without a final stop; empty if there is no problem.
std::string to_string(const TypeProblem& problem);

// int32 or int64.
inline bool is_index(Type type) { return type.is_int() && type.bits >= 32; }
inline bool is_scalar_index(Type type) { return is_index(type) && type.is_scalar(); }

TypeProblem same_type_problem(Type a, Type b);
TypeProblem same_type_problem(const Exprs& operands);

// Inline, since most expressions that passes build are binary.
inline TypeProblem binary_problem(BinaryOp op, Type a, Type b) {
  if (a != b) return same_type_problem(a, b);
  if (is_logical(op) && !a.element().is_bool()) {
    return {.format = "the operands are {a}, not bool", .a = a};
  }
  const bool takes_integers = op == BinaryOp::Mod || op >= BinaryOp::Shl;
  if (takes_integers && a.is_float()) {
    return {.format = "the operands are {a}, not integers", .a = a};
  }
  return {};
}

inline Type binary_type(BinaryOp op, Type operand) {
  return is_comparison(op) || is_logical(op) ? kBool.with_lanes(operand.lanes) : operand;
}
TypeProblem not_problem(Type operand);
TypeProblem select_problem(Type condition, Type if_true, Type if_false);
TypeProblem cast_problem(Type from, Type to);
TypeProblem call_problem(Intrinsic function, const Exprs& arguments);
TypeProblem fma_problem(Type a, Type b, Type c);
TypeProblem ramp_problem(Type base, Type stride, int lanes);
TypeProblem broadcast_problem(Type value, int lanes);
TypeProblem lane_problem(Type vector, Type index);
TypeProblem pack_problem(const Exprs& elements);

// The number of lanes of a value accessed by these indices: the lanes of the vectors among the
// indices, or 1.
int access_lanes(const Exprs& indices);
TypeProblem access_problem(const Exprs& indices, Type value);
TypeProblem texel_problem(const Expr& x, const Expr& y, Type value);
// The rule for the condition of an If or a While.
TypeProblem guard_problem(Type condition);

}  // namespace texloom::ir
