// Fits the rows of the rule table (rules.h) to expressions and sums. Sums are split into parts
// without copies; only a guard that asks for a difference, or knows sums, makes some.
#pragma once

#include <array>
#include <optional>

#include "ir/arith/interval.h"
#include "ir/arith/linear.h"
#include "ir/arith/rules.h"
#include "support/function_ref.h"

namespace texloom::ir::arith {

// What a pattern is held against: a sum of index arithmetic, or any other expression. What it
// refers to outlives the match.
struct Subject {
  const LinearSum* sum = nullptr;
  const Expr* expr = nullptr;

  Subject(const LinearSum& s) : sum(&s) {}  // NOLINT(google-explicit-constructor)
  Subject(const Expr& e) : expr(&e) {}      // NOLINT(google-explicit-constructor)
};

// What the wildcards of a row stand for; by their numbers.
struct Bindings {
  struct Integer {
    std::optional<SumPart> sum;  // or
    const Expr* expr = nullptr;
    mutable std::optional<Interval> interval;  // once a guard has asked for it
    bool bound() const { return sum.has_value() || expr != nullptr; }
  };
  std::array<Integer, 3> integers;
  std::array<std::optional<int64_t>, 3> constants;
  std::array<const Expr*, 2> conditions{};
  std::array<const Expr*, 3> values{};
};

// What the matcher asks of the simplifier.
class Normalizer {
 public:
  virtual const LinearSum& sum_of(const Expr& e) = 0;
  // Whether the term, whose wildcards are bound, comes to that expression.
  virtual bool comes_to(TermView term, const Bindings& bindings, const Expr& e) = 0;

 protected:
  ~Normalizer() = default;
};

class Matcher {
 public:
  Matcher(const Ranges& ranges, Normalizer& normalizer)
      : ranges_(ranges), normalizer_(normalizer) {}

  // Whether the pattern's operands are the subjects and the guard holds; then the wildcards are
  // bound. Several ways to split a sum are tried in order.
  bool applies(const Rule& rule, std::initializer_list<Subject> operands, Bindings& bindings) const;
  // The same for the pair of terms numbered `a` and `b` of a sum, up to a factor.
  bool applies_to_pair(const Rule& rule, const LinearSum& sum, size_t a, size_t b,
                       Bindings& bindings) const;

 private:
  // What is still to be done when a part fits: false makes the matcher try another way.
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

// The number that a guard or a constant part of a result comes to; nothing when it asks for what
// is not known or leaves 64 bits.
std::optional<int64_t> number_of(TermView t, const Bindings& b, const Ranges& ranges);
// Whether a term has no wildcards but constants, so that number_of gives its value.
bool is_number(TermView t);

// The integer that all lanes of a constant have. Nothing for one of uint64 above 2^63.
const int64_t* constant_value(const Expr& e);

}  // namespace texloom::ir::arith
