// Operators of the te language, such as `a + b` for operands of two types, and reductions.
//
// The common type: the wider of two floats or of two integers of one signedness; a float rather
// than an integer, an unsigned integer rather than a signed one of the same width, a number rather
// than a bool. Python literals are int32 and float32. Fails with BadOperandType or IntegerDivision.
#pragma once

#include <string_view>
#include <utility>

#include "ir/expr.h"

namespace texloom::schedule {

// Converts both values to their common type.
std::pair<ir::Expr, ir::Expr> match_types(ir::Expr a, ir::Expr b, const SourceLocation& where);

// Any operator except Div of integers, which does not specify the rounding; use truncating_div.
ir::Expr apply(ir::BinaryOp op, ir::Expr a, ir::Expr b, const SourceLocation& where);
ir::Expr truncating_div(ir::Expr a, ir::Expr b, const SourceLocation& where);
ir::Expr logical_not(ir::Expr value, const SourceLocation& where);
// `-value` in the same type. -0.0 for 0.0; integers wrap; bools count as 0 and 1.
ir::Expr negate(ir::Expr value, const SourceLocation& where);
// `~value`: the negation of a bool, the inverted bits of an integer.
ir::Expr invert(ir::Expr value, const SourceLocation& where);
// A constant of `type`. Fails with BadConstant if the type cannot represent it.
ir::Expr constant(int64_t value, ir::Type type, const SourceLocation& where);
ir::Expr constant(double value, ir::Type type, const SourceLocation& where);
ir::Expr select(ir::Expr condition, ir::Expr if_true, ir::Expr if_false,
                const SourceLocation& where);
// The number of set bits of an integer, in its type.
ir::Expr popcount(const ir::Expr& x, const SourceLocation& where);
// The number of bits before the first set bit of an integer (all bits for 0), as int32.
ir::Expr leading_zeros(const ir::Expr& x, const SourceLocation& where);
// An element function of floats, by its te name. Rounding functions return integers unchanged.
ir::Expr call(std::string_view name, ir::Exprs arguments, const SourceLocation& where);
// `a * b + c`, rounded once, for operands of the same type: float32 or float64.
ir::Expr fma(const ir::Expr& a, const ir::Expr& b, const ir::Expr& c, const SourceLocation& where);

enum class Reduction : uint8_t { Sum, Min, Max };
// The axes of a reduction, the condition for a point to take part (or null), and the initial values
// (empty: the identities of the reducer).
struct ReductionDomain {
  std::vector<ir::IterVar> axes;
  ir::Expr condition = nullptr;
  ir::Exprs init = {};
};
// The identity of Max is the lowest finite value, as in TVM.
ir::Expr reduce(Reduction kind, ir::Expr source, ReductionDomain domain,
                const SourceLocation& where);
// Reduces with a user-defined reducer; there is a source for each value that it combines. Results,
// identities and initial values are converted to the types of the sources.
ir::Expr reduce(ir::Reducer reducer, ir::Exprs sources, ReductionDomain domain,
                const SourceLocation& where);

}  // namespace texloom::schedule
