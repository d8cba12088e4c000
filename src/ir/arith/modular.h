// The remainders of integer expressions, in addition to their intervals (interval.h).
#pragma once

#include "ir/expr.h"

namespace texloom::ir::arith {

class Ranges;

// All integers x = residue (mod modulus). A modulus of 0 stands for the residue alone, a modulus of
// 1 for all integers. 0 <= residue < modulus, unless the modulus is 0.
struct Modular {
  int64_t modulus = 1;
  int64_t residue = 0;

  bool operator==(const Modular&) const = default;

  static Modular everything() { return {}; }
  static Modular point(int64_t value) { return {0, value}; }
  // Reduces the residue to its range. Returns all integers if the modulus is negative.
  static Modular of(int64_t modulus, int64_t residue);
  // Whether all these integers are multiples of `divisor`, which is positive.
  bool is_multiple_of(int64_t divisor) const {
    return modulus % divisor == 0 && residue % divisor == 0;
  }
};

Modular join(Modular a, Modular b);  // contains the values of both
Modular operator+(Modular a, Modular b);
Modular operator*(Modular a, Modular b);

// What is known of the remainders of the expression. The caller ensures that it is index arithmetic
// (linear.h), since sums that wrap leave other remainders. Returns all integers for vectors,
// unsigned types, and types of fewer than 32 bits.
Modular modular(const Expr& e, const Ranges& ranges);

}  // namespace texloom::ir::arith
