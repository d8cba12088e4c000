// Simplification of integer index expressions, and proofs by it.
//
// An integer expression is brought into a sum of terms coefficient * atom + constant, where an
// atom is a variable, a division, a remainder or whatever else is not linear. On sums these
// rules hold, where c, g > 0 are constants, S is a part whose interval lies in [0, g), and x // y
// and x % y round to minus infinity:
//
//   (c*Q + R) // c         = Q + R // c
//   (g*X + S) // (g*c)     = X // c
//   (x // a) // b          = x // (a*b)
//   (c*Q + R) % c          = R % c
//   (g*X + S) % (g*c)      = g * (X % c) + S
//   (x % (a*c)) % c        = x % c                      also with a factor: (b*(x % d)) % c, c |
//   b*d a*(x // a) + x % a     = x                          parts of a fused axis joined again
//   a*((x // a) % b) + x % a = x % (a*b)
//   R // c, R % c          by interval, when R lies between two multiples of c
//   g*X + k < 0            = X < ceil(-k / g)          and so for <=, >, >=
//   a < b, min(a, b), ...  by the interval of a - b
//
// Rules that are wrong when a sum overflows are applied to index arithmetic only (variables and
// constants), never to values read from memory.
#pragma once

#include "ir/arith/interval.h"
#include "ir/arith/linear.h"
#include "ir/expr.h"
#include "ir/stmt.h"

namespace texloom::ir::arith {

Expr simplify(const Expr& e, const Ranges& ranges = {});

// The simplified expression as a sum. `e` is of an integer type of 32 or 64 bits.
LinearSum linear_sum(const Expr& e, const Ranges& ranges);

// True only if the condition holds for all values in range.
bool prove(const Expr& condition, const Ranges& ranges);

// The constant difference a - b, if it is one.
std::optional<int64_t> constant_difference(const Expr& a, const Expr& b, const Ranges& ranges);

}  // namespace texloom::ir::arith
