// Sums of coefficient * atom + constant: the normal form that simplify.cc works on. Atoms are
// compared by structural equality.
#pragma once

#include <optional>
#include <vector>

#include "ir/expr.h"

namespace texloom::ir::arith {

struct Interval;
struct Modular;
class Ranges;

struct LinearTerm {
  Expr atom;
  int64_t coefficient = 1;
};

struct LinearSum {
  std::vector<LinearTerm> terms;  // no coefficient is zero, no two atoms are equal
  int64_t constant = 0;

  static LinearSum constant_sum(int64_t value) { return {{}, value}; }
  static LinearSum atom(Expr e);

  bool is_constant() const { return terms.empty(); }
  // The atom if the sum is only that atom; else null.
  const Expr* single_atom() const;
  // The coefficient of an atom; 0 if it does not occur.
  int64_t coefficient_of(const Expr& atom) const;
  // The greatest common divisor of all coefficients, negative if all coefficients are; 0 if there
  // are no coefficients, or if the divisor does not fit int64.
  int64_t common_factor() const;

  // this + sign * other
  LinearSum plus(const LinearSum& other, int64_t sign) const;
  // The product of the sum and the factor; nullopt if a coefficient would overflow.
  std::optional<LinearSum> times(int64_t factor) const;

  Interval bounds(const Ranges& ranges) const;
  Modular modular(const Ranges& ranges) const;
  Expr to_expr(Type type) const;
};

bool equal(const LinearSum& a, const LinearSum& b);

// Whether the expression contains a value from memory, directly or through a variable that the
// ranges mark as such, or the result of a call or of a cast that may change the value. Such values
// are arbitrary, so sums of them may overflow. All other integers of at least 32 bits are index
// arithmetic, which does not overflow (ir/program.h).
bool reads_memory(const Expr& e, const Ranges& ranges);
bool reads_memory(const LinearSum& sum, const Ranges& ranges);
// Like the function above, but no variable counts as bound to a value from memory.
bool reads_memory(const Expr& e);
bool reads_memory(const LinearSum& sum);

// A view of some terms of a sum.
class SumPart {
 public:
  enum class Kind : uint8_t {
    Whole,
    Multiples,  // the terms, and the part of the constant, that `parameter` divides: the quotients
    Rest,       // the terms that Multiples leaves out, and the rest of the constant
    Terms,      // all terms, divided by the parameter, without the constant
    Except,     // all terms but the one whose index is the parameter
  };

  SumPart() = default;
  SumPart(const LinearSum& sum, Kind kind = Kind::Whole, int64_t parameter = 1)
      : sum_(&sum), kind_(kind), parameter_(parameter) {}

  bool is_whole() const { return kind_ == Kind::Whole; }
  bool is_zero() const { return constant() == 0 && is_constant(); }
  bool is_constant() const;
  int64_t constant() const;
  Interval bounds(const Ranges& ranges) const;
  Modular modular(const Ranges& ranges) const;
  LinearSum copy() const;

 private:
  template <class F>
  void for_each(const F& see) const;  // (atom, coefficient)

  const LinearSum* sum_ = nullptr;
  Kind kind_ = Kind::Whole;
  int64_t parameter_ = 1;
};

}  // namespace texloom::ir::arith
