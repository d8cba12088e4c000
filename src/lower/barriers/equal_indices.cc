#include "lower/barriers/equal_indices.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "ir/arith/interval.h"
#include "ir/arith/linear.h"
#include "ir/arith/simplify.h"
#include "ir/equal.h"
#include "ir/visit.h"
#include "support/floor_division.h"
#include "support/magnitude.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes
using arith::Interval;
using arith::LinearSum;

namespace {

// The interval of the difference between two values in the interval.
Interval difference(Interval values) { return values - values; }

// Whether no value of the interval is a multiple of the divisor. The only multiple of 0 is 0.
bool has_no_multiple(Interval values, uint64_t divisor) {
  if (values.min > 0 || values.max < 0) {
    if (divisor == 0) return true;
    if (!values.bounded()) return false;
    const auto step = static_cast<int64_t>(std::min<uint64_t>(divisor, Interval::kNone));
    return floor_div(values.max, step) * step < values.min;
  }
  return false;
}

}  // namespace

EqualIndices::EqualIndices(const Exprs& a, const Exprs& b, const Variables& variables,
                           const arith::Ranges& ranges)
    : variables_(variables), ranges_(ranges) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (arith::is_index_type(a[i]->type) && a[i]->type == b[i]->type) add_equation(a[i], b[i]);
  }
  for (bool found = true; found;) {
    found = false;
    // Iterates by index, because join_quotients() adds equations to the list.
    for (size_t i = 0; i < equations_.size(); ++i) found = solve(equations_[i]) || found;
    found = join_quotients() || found;
  }
}

bool EqualIndices::holds(const Expr& part) const {
  return is_fixed(part) || std::any_of(known_.begin(), known_.end(),
                                       [&](const Expr& known) { return equal(known, part); });
}

bool EqualIndices::never() const {
  return std::any_of(equations_.begin(), equations_.end(),
                     [this](const Equation& equation) { return has_no_solution(equation); });
}

bool EqualIndices::has_no_solution(const Equation& equation) const {
  std::vector<Difference> open;
  std::copy_if(equation.differences.begin(), equation.differences.end(), std::back_inserter(open),
               [this](const Difference& d) { return !holds(d.part); });
  // The differences with the largest factors add up to a multiple of their common divisor; the
  // other differences add up to a value in an interval.
  Interval others = equation.rest;
  for (size_t large = open.size() + 1; large-- > 0;) {
    uint64_t divisor = 0;
    for (size_t i = 0; i < large; ++i) divisor = std::gcd(divisor, magnitude(open[i].factor));
    if (has_no_multiple(others, divisor)) return true;
    if (large > 0) {
      const Difference& next = open[large - 1];
      others =
          others + difference(arith::bounds(next.part, ranges_)) * Interval::point(next.factor);
    }
  }
  return false;
}

bool EqualIndices::is_fixed(const Expr& part) const {
  bool fixed = true;
  walk(part, [&](const ExprNode& n) {
    fixed = fixed && n.kind != ExprKind::Load && n.kind != ExprKind::TextureLoad &&
            !variables_.contains(&n);
  });
  return fixed;
}

void EqualIndices::add_equation(const Expr& a, const Expr& b) {
  const LinearSum one = arith::linear_sum(a, ranges_), other = arith::linear_sum(b, ranges_);
  Equation equation{{}, Interval::point(one.constant) - Interval::point(other.constant)};
  for (const arith::LinearTerm& t : one.terms) {
    if (other.coefficient_of(t.atom) == t.coefficient) {
      equation.differences.push_back({t.atom, t.coefficient});
    } else {
      equation.rest =
          equation.rest + arith::bounds(t.atom, ranges_) * Interval::point(t.coefficient);
    }
  }
  for (const arith::LinearTerm& t : other.terms) {
    if (one.coefficient_of(t.atom) == t.coefficient) continue;
    equation.rest = equation.rest - arith::bounds(t.atom, ranges_) * Interval::point(t.coefficient);
  }
  std::sort(equation.differences.begin(), equation.differences.end(),
            [](const Difference& x, const Difference& y) {
              return magnitude(x.factor) > magnitude(y.factor);
            });
  equations_.push_back(std::move(equation));
}

bool EqualIndices::solve(const Equation& equation) {
  bool found = false;
  const std::vector<Difference>& all = equation.differences;
  for (size_t i = 0; i < all.size(); ++i) {
    if (holds(all[i].part)) continue;
    Interval others = equation.rest;
    for (size_t j = i + 1; j < all.size(); ++j) {
      if (holds(all[j].part)) continue;
      others =
          others + difference(arith::bounds(all[j].part, ranges_)) * Interval::point(all[j].factor);
    }
    const auto step =
        static_cast<int64_t>(std::min<uint64_t>(magnitude(all[i].factor), Interval::kNone));
    if (!others.within(1 - step, step - 1)) break;
    known_.push_back(all[i].part);
    found = true;
  }
  return found;
}

bool never_equal(const Exprs& a, const Exprs& b, const arith::Ranges& ranges) {
  EqualIndices::Variables variables;
  for (const Exprs* indices : {&a, &b}) {
    for (const Expr& index : *indices) {
      walk(index, [&](const Var& n) { variables.insert(&n); });
    }
  }
  return EqualIndices(a, b, variables, ranges).never();
}

// Joins e // c and e % c, which together are e.
bool EqualIndices::join_quotients() {
  bool found = false;
  const Exprs known = known_;
  for (const Expr& part : known) {
    const auto* n = as<Binary>(part);
    if (n == nullptr || n->op != BinaryOp::FloorMod || holds(n->a) || !is_fixed(n->b)) {
      continue;
    }
    if (!holds(arith::simplify(floordiv(n->a, n->b), ranges_))) continue;
    known_.push_back(n->a);
    add_equation(n->a, n->a);
    found = true;
  }
  return found;
}

}  // namespace texloom::lower
