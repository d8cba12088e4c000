// What remainder an integer expression leaves, beside its interval (interval.h).
#pragma once

#include "ir/expr.h"

namespace texloom::ir::arith {

class Ranges;

// All integers x = residue (mod modulus). A modulus of 0 means the residue alone, one of 1 says
// nothing. 0 <= residue < modulus, unless the modulus is 0.
struct Modular {
  int64_t modulus = 1;
  int64_t residue = 0;

  bool operator==(const Modular&) const = default;

  static Modular everything() { return {}; }
  static Modular point(int64_t value) { return {0, value}; }
  // With the residue brought into its range; everything when the modulus is negative.
  static Modular of(int64_t modulus, int64_t residue);
  // What every multiple of `divisor`, which is positive, leaves when divided by it.
  bool is_multiple_of(int64_t divisor) const {
    return modulus % divisor == 0 && residue % divisor == 0;
  }
};

Modular join(Modular a, Modular b);  // holds for the values of both
Modular operator+(Modular a, Modular b);
Modular operator*(Modular a, Modular b);

// Right of index arithmetic alone (linear.h), which the caller makes sure of: sums that wrap leave
// other remainders. Everything, for vectors, unsigned types, and types of fewer than 32 bits.
Modular modular(const Expr& e, const Ranges& ranges);

}  // namespace texloom::ir::arith
