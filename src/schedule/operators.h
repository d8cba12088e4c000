// Operators of the te language: what `a + b` means for operands of two types, and reductions.
//
// Types: of two floats, or two integers of one signedness, the wider wins; a float wins over an
// integer, an unsigned integer over a signed one of the same width, a number over a bool. Python
// literals come as int32 and float32. Fails with BadOperandType or IntegerDivision.
#pragma once

#include <string_view>
#include <utility>

#include "ir/expr.h"

namespace texloom::schedule {

// Both values, converted to the common type.
std::pair<ir::Expr, ir::Expr> match_types(ir::Expr a, ir::Expr b, const SourceLocation& where);

// Any operator but Div of integers, which says nothing of rounding; use truncating_div then.
ir::Expr apply(ir::BinaryOp op, ir::Expr a, ir::Expr b, const SourceLocation& where);
ir::Expr truncating_div(ir::Expr a, ir::Expr b, const SourceLocation& where);
ir::Expr logical_not(ir::Expr value, const SourceLocation& where);
// `-value`, of the same type: -0.0 of 0.0; integers wrap, truth values count.
ir::Expr negate(ir::Expr value, const SourceLocation& where);
// `~value`: of a bool its negation, of an integer its bits inverted.
ir::Expr invert(ir::Expr value, const SourceLocation& where);
// A constant that `type` has; fails with BadConstant for one that it would change.
ir::Expr constant(int64_t value, ir::Type type, const SourceLocation& where);
ir::Expr constant(double value, ir::Type type, const SourceLocation& where);
ir::Expr select(ir::Expr condition, ir::Expr if_true, ir::Expr if_false,
                const SourceLocation& where);
// How many bits of an integer are set, in its own type.
ir::Expr popcount(const ir::Expr& x, const SourceLocation& where);
// How many of an integer's bits precede the first that is set, all of them of 0; int32.
ir::Expr leading_zeros(const ir::Expr& x, const SourceLocation& where);
// An element function of floats by its te name; integers are returned as they are by the rounding
// ones.
ir::Expr call(std::string_view name, ir::Exprs arguments, const SourceLocation& where);
// `a * b + c` of one type, rounded once: float32 or float64.
ir::Expr fma(const ir::Expr& a, const ir::Expr& b, const ir::Expr& c, const SourceLocation& where);

enum class Reduction : uint8_t { Sum, Min, Max };
// What is reduced over which axes; of those points only where `condition` (may be null) holds,
// and from `init` on (empty: from the reducer's identities).
struct ReductionDomain {
  std::vector<ir::IterVar> axes;
  ir::Expr condition = nullptr;
  ir::Exprs init = {};
};
// The identity of Max is the lowest finite value, as in TVM.
ir::Expr reduce(Reduction kind, ir::Expr source, ReductionDomain domain,
                const SourceLocation& where);
// By a reducer of the user's own, with a source for each value that it combines. Results,
// identities and starts are converted to the types of the sources.
ir::Expr reduce(ir::Reducer reducer, ir::Exprs sources, ReductionDomain domain,
                const SourceLocation& where);

}  // namespace texloom::schedule
