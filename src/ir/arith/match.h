// Matches the rows of the rule table (rules.h) against expressions and sums. Splits sums into parts
// without copying; only guards copy: guards that ask for a difference, and all guards if the ranges
// contain bounds of sums.
#pragma once

#include <array>
#include <optional>

#include "ir/arith/interval.h"
#include "ir/arith/linear.h"
#include "ir/arith/rules.h"
#include "support/function_ref.h"

namespace texloom::ir::arith {

// The subject of a match: a sum of index arithmetic, or any other expression. Must not outlive the
// expression.
struct Subject {
  const LinearSum* sum = nullptr;
  const Expr* expr = nullptr;

  Subject(const LinearSum& s) : sum(&s) {}  // NOLINT(google-explicit-constructor)
  Subject(const Expr& e) : expr(&e) {}      // NOLINT(google-explicit-constructor)
};

// The bindings of a row's wildcards, by their numbers.
struct Bindings {
  struct Integer {
    std::optional<SumPart> sum;  // or
    const Expr* expr = nullptr;
    mutable std::optional<Interval> interval;  // the bounds, cached once a guard needs them
    bool bound() const { return sum.has_value() || expr != nullptr; }
  };
  std::array<Integer, 3> integers;
  std::array<std::optional<int64_t>, 3> constants;
  std::array<const Expr*, 2> conditions{};
  std::array<const Expr*, 3> values{};
};

// The functions of the simplifier that the matcher calls.
class Normalizer {
 public:
  virtual const LinearSum& sum_of(const Expr& e) = 0;
  // Whether the term, whose wildcards are bound, simplifies to the expression.
  virtual bool comes_to(TermView term, const Bindings& bindings, const Expr& e) = 0;

 protected:
  ~Normalizer() = default;
};

class Matcher {
 public:
  Matcher(const Ranges& ranges, Normalizer& normalizer)
      : ranges_(ranges), normalizer_(normalizer) {}

  // Whether the pattern's operands match the subjects and the guard holds; if so, binds the
  // wildcards. Tries the ways to split a sum in order.
  bool applies(const Rule& rule, std::initializer_list<Subject> operands, Bindings& bindings) const;
  // Does the same as applies() for the terms numbered `a` and `b` of a sum, up to a common factor.
  bool applies_to_pair(const Rule& rule, const LinearSum& sum, size_t a, size_t b,
                       Bindings& bindings) const;

 private:
  // A continuation, called after a part has matched: it matches the rest of the pattern. If it
  // returns false, the matcher tries another way to match the part.
  using Then = FunctionRef<bool(Bindings&)>;

  bool match(TermView t, const Subject& s, Bindings& b, Then then) const;
  bool match_pair(TermView t, const Subject& first, const Subject& second, Bindings& b,
                  Then then) const;
  bool match_operation(TermView t, const Expr& e, Bindings& b, Then then) const;
  bool match_sum(TermView t, const LinearSum& sum, Bindings& b, Then then) const;
  bool match_split(TermView factor, TermView quotient, TermView rest, const LinearSum& sum,
                   Bindings& b, Then then) const;
  bool match_term(TermView operation, TermView factor, TermView rest, const LinearSum& sum,
                  Bindings& b, Then then) const;
  bool match_part(TermView t, const SumPart& part, Bindings& b, Then then) const;
  bool match_number(TermView t, int64_t value, Bindings& b, Then then) const;

  bool is_bound_to(const Bindings::Integer& bound, const Subject& s) const;

  const Ranges& ranges_;
  Normalizer& normalizer_;
};

// The value of a guard or of a constant part of a result; nullopt if it needs an unknown value or
// overflows 64 bits.
std::optional<int64_t> number_of(TermView t, const Bindings& b, const Ranges& ranges);
// Whether all wildcards of a term are constants, so that number_of gives its value.
bool is_number(TermView t);

// The integer value of a constant whose lanes are equal; null for others, and for uint64 values
// from 2^63 on.
const int64_t* constant_value(const Expr& e);

}  // namespace texloom::ir::arith
