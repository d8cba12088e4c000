// Constant intervals of integer expressions.
#pragma once

#include <limits>

#include "ir/expr.h"

namespace texloom::ir::arith {

class Ranges;

// All integers from min to max, both included. An end at or beyond +-kNone is unbounded.
struct Interval {
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max() / 4;

  int64_t min = -kNone;
  int64_t max = kNone;

  bool operator==(const Interval&) const = default;

  static Interval everything() { return {}; }
  static Interval point(int64_t value) { return {value, value}; }
  bool has_min() const { return min > -kNone; }
  bool has_max() const { return max < kNone; }
  bool bounded() const { return has_min() && has_max(); }
  bool is_point() const { return bounded() && min == max; }
  bool within(int64_t low, int64_t high) const { return min >= low && max <= high; }
};

Interval join(Interval a, Interval b);  // the smallest interval that contains both
Interval meet(Interval a, Interval b);  // the intersection; min > max if it is empty
Interval operator+(Interval a, Interval b);
Interval operator-(Interval a, Interval b);
Interval operator*(Interval a, Interval b);
// All integers whose product with the factor is in the interval. The factor is neither 0 nor
// INT64_MIN, which cannot be negated.
Interval quotient_range(Interval product, int64_t factor);

// All values of an integer or bool type of at most 32 bits; an unbounded interval for other types.
Interval values_of(Type type);

// An interval that contains all values of the expression, in all lanes of a vector. Values from
// memory are bounded only by their type, if it has at most 16 bits.
Interval bounds(const Expr& e, const Ranges& ranges);

}  // namespace texloom::ir::arith
