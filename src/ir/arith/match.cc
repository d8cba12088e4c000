#include "ir/arith/match.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "ir/arith/ranges.h"
#include "ir/arith/simplify.h"
#include "ir/build/integer_ops.h"
#include "ir/equal.h"
#include "ir/visit.h"
#include "support/magnitude.h"

namespace texloom::ir::arith {
namespace {

// Whether the operands may be exchanged. And and Or do not commute: the first operand may guard the
// second.
bool commutes(BinaryOp op) {
  switch (op) {
    case BinaryOp::Add:
    case BinaryOp::Mul:
    case BinaryOp::Min:
    case BinaryOp::Max:
    case BinaryOp::Eq:
    case BinaryOp::Ne:
      return true;
    default:
      return false;
  }
}

const Expr* operation_of(const Subject& s) {
  return s.expr != nullptr ? s.expr : s.sum->single_atom();
}

// Whether the first operand binds the wildcards of the second, which is a simplified term.
bool binds_first(TermView operation) { return operation.child(1).is(TermKind::Simplified); }

// Binds a wildcard, and releases it if `then` fails.
template <class T>
bool with(T& slot, const T& value, Bindings& b, FunctionRef<bool(Bindings&)> then) {
  slot = value;
  if (then(b)) return true;
  slot = T();
  return false;
}

bool with_expr(const Expr*& slot, const Expr& e, Bindings& b, FunctionRef<bool(Bindings&)> then) {
  if (slot != nullptr) return equal(*slot, e) && then(b);
  return with<const Expr*>(slot, &e, b, then);
}

// -- Guards.

Interval interval_of(const Bindings::Integer& x, const Ranges& ranges) {
  if (!x.interval) x.interval = x.sum ? x.sum->bounds(ranges) : bounds(*x.expr, ranges);
  return *x.interval;
}

Interval interval_of(TermView t, const Bindings& b, const Ranges& ranges) {
  if (!t.is(BinaryOp::Sub)) return interval_of(b.integers[t->value], ranges);
  const auto& x = b.integers[t.child(0)->value];
  const auto& y = b.integers[t.child(1)->value];
  if (x.sum && y.sum) return x.sum->copy().plus(y.sum->copy(), -1).bounds(ranges);
  return interval_of(x, ranges) - interval_of(y, ranges);
}

Modular modular_of(const Bindings::Integer& x, const Ranges& ranges) {
  return x.sum ? x.sum->modular(ranges) : modular(*x.expr, ranges);
}

// nullopt if int64 cannot hold the result, and for every division by -1: a rule whose guard divides
// by a constant divides other numbers by that constant, too, and the least int64 divided by -1
// overflows.
std::optional<int64_t> apply(BinaryOp op, int64_t a, int64_t b) {
  if (is_division(op) && b == -1) return std::nullopt;
  return integer_result(op, kInt64, a, b, Overflow::Refuse);
}

}  // namespace

const int64_t* constant_value(const Expr& e) {
  const auto* all = as<Broadcast>(e);
  const Expr& scalar = all != nullptr ? all->value : e;
  const int64_t* value = int_value(scalar);
  const bool too_large =
      value != nullptr && *value < 0 && scalar->type.is_uint() && scalar->type.bits == 64;
  return too_large ? nullptr : value;
}

bool is_number(TermView t) {
  switch (t->kind) {
    case TermKind::Literal:
    case TermKind::Constant:
    case TermKind::Low:
    case TermKind::High:
    case TermKind::Modulus:
    case TermKind::Residue:
      return true;
    case TermKind::Binary:
      return !is_comparison(t->op) && !is_logical(t->op) && is_number(t.child(0)) &&
             is_number(t.child(1));
    default:
      return false;
  }
}

std::optional<int64_t> number_of(TermView t, const Bindings& b, const Ranges& ranges) {
  switch (t->kind) {
    case TermKind::Literal:
      return t->value;
    case TermKind::Constant:
      return b.constants[t->value];
    case TermKind::Low: {
      const Interval interval = interval_of(t.child(0), b, ranges);
      return interval.has_min() ? std::optional(interval.min) : std::nullopt;
    }
    case TermKind::High: {
      const Interval interval = interval_of(t.child(0), b, ranges);
      return interval.has_max() ? std::optional(interval.max) : std::nullopt;
    }
    case TermKind::Modulus:
      return modular_of(b.integers[t.child(0)->value], ranges).modulus;
    case TermKind::Residue:
      return modular_of(b.integers[t.child(0)->value], ranges).residue;
    case TermKind::Binary: {
      const auto first = number_of(t.child(0), b, ranges);
      if (!first || (t->op == BinaryOp::And && *first == 0)) return first;
      const auto second = number_of(t.child(1), b, ranges);
      if (!second || t->op == BinaryOp::And) return second;
      return apply(t->op, *first, *second);
    }
    default:
      TL_UNREACHABLE("not a number");
  }
}

bool Matcher::applies(const Rule& rule, std::initializer_list<Subject> operands,
                      Bindings& bindings) const {
  const TermView pattern(rule.pattern);
  const auto guard = [&](Bindings& b) {
    return number_of(rule.guard, b, ranges_).value_or(0) != 0;
  };
  const Subject* s = operands.begin();
  switch (pattern->kind) {
    case TermKind::Not:
      return match(pattern.child(0), s[0], bindings, guard);
    case TermKind::Select:
      return match(pattern.child(0), s[0], bindings, [&](Bindings& b) {
        return match(pattern.child(1), s[1], b,
                     [&](Bindings& c) { return match(pattern.child(2), s[2], c, guard); });
      });
    default:
      return match_pair(pattern, s[0], s[1], bindings, guard);
  }
}

bool Matcher::applies_to_pair(const Rule& rule, const LinearSum& sum, size_t a, size_t b,
                              Bindings& bindings) const {
  const auto guard = [&](Bindings& g) {
    return number_of(rule.guard, g, ranges_).value_or(0) != 0;
  };
  const LinearTerm &first = sum.terms[a], &second = sum.terms[b];
  const bool divides = first.coefficient != std::numeric_limits<int64_t>::min() &&
                       first.coefficient % second.coefficient == 0;
  if (!divides) return false;
  const int64_t ratio = first.coefficient / second.coefficient;
  const TermView pattern(rule.pattern), scaled = pattern.child(0);
  const bool has_factor = scaled.is(BinaryOp::Mul);
  if (!has_factor && ratio != 1) return false;
  const auto match_first = [&](Bindings& x, Then then) {
    if (!has_factor) return match(scaled, first.atom, x, then);
    return match_number(scaled.child(1), ratio, x,
                        [&](Bindings& y) { return match(scaled.child(0), first.atom, y, then); });
  };
  if (binds_first(pattern)) {
    return match_first(bindings,
                       [&](Bindings& x) { return match(pattern.child(1), second.atom, x, guard); });
  }
  return match(pattern.child(1), second.atom, bindings,
               [&](Bindings& x) { return match_first(x, guard); });
}

// Matches the second operand first, since it may be a constant, unless the first one must be.
bool Matcher::match_pair(TermView t, const Subject& first, const Subject& second, Bindings& b,
                         Then then) const {
  const auto in_order = [&](const Subject& x, const Subject& y) {
    if (binds_first(t)) {
      return match(t.child(0), x, b, [&](Bindings& c) { return match(t.child(1), y, c, then); });
    }
    return match(t.child(1), y, b, [&](Bindings& c) { return match(t.child(0), x, c, then); });
  };
  return in_order(first, second) || (commutes(t->op) && in_order(second, first));
}

bool Matcher::match(TermView t, const Subject& s, Bindings& b, Then then) const {
  switch (t->kind) {
    case TermKind::Literal:
    case TermKind::Constant: {
      if (s.sum != nullptr) {
        return s.sum->is_constant() && match_number(t, s.sum->constant, b, then);
      }
      const int64_t* value = constant_value(*s.expr);
      return value != nullptr && match_number(t, *value, b, then);
    }
    case TermKind::Integer: {
      if (s.expr != nullptr && !(*s.expr)->type.is_integer()) return false;
      auto& slot = b.integers[t->value];
      if (slot.bound()) return is_bound_to(slot, s) && then(b);
      if (s.sum != nullptr)
        return with(slot, Bindings::Integer{SumPart(*s.sum), nullptr, {}}, b, then);
      return with(slot, Bindings::Integer{{}, s.expr, {}}, b, then);
    }
    case TermKind::Condition:
      return s.expr != nullptr && (*s.expr)->type.element().is_bool() &&
             with_expr(b.conditions[t->value], *s.expr, b, then);
    case TermKind::Value:
      return s.expr != nullptr && with_expr(b.values[t->value], *s.expr, b, then);
    case TermKind::Simplified:
      return s.expr != nullptr && normalizer_.comes_to(t.child(0), b, *s.expr) && then(b);
    default:
      break;
  }
  const bool of_sums = t.is(BinaryOp::Add) || t.is(BinaryOp::Mul);
  if (of_sums) return s.sum != nullptr && match_sum(t, *s.sum, b, then);
  const Expr* e = operation_of(s);
  return e != nullptr && match_operation(t, *e, b, then);
}

bool Matcher::match_operation(TermView t, const Expr& e, Bindings& b, Then then) const {
  if (const auto* n = as<Not>(e)) {
    return t.is(TermKind::Not) && match(t.child(0), n->value, b, then);
  }
  if (const auto* n = as<Select>(e)) {
    return t.is(TermKind::Select) && match(t.child(0), n->condition, b, [&](Bindings& c) {
             return match(t.child(1), n->if_true, c,
                          [&](Bindings& d) { return match(t.child(2), n->if_false, d, then); });
           });
  }
  const auto* n = as<Binary>(e);
  if (n == nullptr || !t.is(n->op)) return false;
  return match_pair(t, n->a, n->b, b, then);
}

bool Matcher::is_bound_to(const Bindings::Integer& bound, const Subject& s) const {
  if (bound.expr != nullptr && s.expr != nullptr) return equal(*bound.expr, *s.expr);
  const Expr* e = bound.expr != nullptr ? bound.expr : s.expr;
  if (e != nullptr && !is_index_type((*e)->type)) return false;
  const LinearSum a = bound.sum ? bound.sum->copy() : normalizer_.sum_of(*bound.expr);
  return equal(a, s.sum != nullptr ? *s.sum : normalizer_.sum_of(*s.expr));
}

bool Matcher::match_sum(TermView t, const LinearSum& sum, Bindings& b, Then then) const {
  static constexpr Term kOne = 1, kZero = 0;
  const TermView product = t.is(BinaryOp::Add) ? t.child(0) : t;
  const TermView rest = t.is(BinaryOp::Add) ? t.child(1) : TermView(kZero);
  const bool scaled = product.is(BinaryOp::Mul);
  const TermView first = scaled ? product.child(0) : product;
  const TermView factor = scaled ? product.child(1) : TermView(kOne);
  if (first.is(TermKind::Integer)) return match_split(factor, first, rest, sum, b, then);
  return match_term(first, factor, rest, sum, b, then);
}

// Matches x * c0 + y and x * c0 + c1.
bool Matcher::match_split(TermView factor, TermView quotient, TermView rest, const LinearSum& sum,
                          Bindings& b, Then then) const {
  using Kind = SumPart::Kind;
  auto& bound = b.constants[factor->value];
  if (rest.is(TermKind::Constant)) {
    const int64_t common = sum.common_factor();
    return common != 0 && match_number(factor, common, b, [&](Bindings& c) {
             return match_number(rest, sum.constant, c, [&](Bindings& d) {
               return match_part(quotient, {sum, Kind::Terms, common}, d, then);
             });
           });
  }
  const auto split_by = [&](int64_t divisor) {
    const SumPart multiples(sum, Kind::Multiples, divisor);
    if (divisor <= 0 || multiples.is_zero()) return false;
    return match_part(quotient, multiples, b, [&](Bindings& c) {
      return match_part(rest, {sum, Kind::Rest, divisor}, c, then);
    });
  };
  if (bound) return split_by(*bound);
  const auto next = std::find_if(b.constants.begin(), b.constants.end(),
                                 [](const auto& c) { return c.has_value(); });
  const int64_t whole = next == b.constants.end() ? 0 : **next;
  const int64_t all = sum.common_factor();
  for (int64_t last = std::numeric_limits<int64_t>::max();;) {
    int64_t largest = 0;
    const auto consider = [&](int64_t coefficient) {
      const uint64_t common = std::gcd(magnitude(coefficient), magnitude(whole));
      if (common < static_cast<uint64_t>(last)) {
        largest = std::max(largest, static_cast<int64_t>(common));
      }
    };
    for (const LinearTerm& t : sum.terms) consider(t.coefficient);
    consider(all);
    if (largest == 0) return false;
    bound = last = largest;
    if (split_by(largest)) return true;
    bound.reset();
  }
}

// Matches f(x) * c0 + y and f(x) + c1.
bool Matcher::match_term(TermView operation, TermView factor, TermView rest, const LinearSum& sum,
                         Bindings& b, Then then) const {
  if (rest.is(TermKind::Constant) && sum.terms.size() != 1) return false;
  for (size_t i = 0; i < sum.terms.size(); ++i) {
    const LinearTerm& term = sum.terms[i];
    const bool found = match_number(factor, term.coefficient, b, [&](Bindings& c) {
      return match_operation(operation, term.atom, c, [&](Bindings& d) {
        return match_part(rest, {sum, SumPart::Kind::Except, static_cast<int64_t>(i)}, d, then);
      });
    });
    if (found) return true;
  }
  return false;
}

bool Matcher::match_part(TermView t, const SumPart& part, Bindings& b, Then then) const {
  if (!t.is(TermKind::Integer))
    return part.is_constant() && match_number(t, part.constant(), b, then);
  auto& slot = b.integers[t->value];
  if (slot.bound()) return is_bound_to(slot, part.copy()) && then(b);
  return with(slot, Bindings::Integer{part, nullptr, {}}, b, then);
}

bool Matcher::match_number(TermView t, int64_t value, Bindings& b, Then then) const {
  if (t.is(TermKind::Literal)) return t->value == value && then(b);
  if (!t.is(TermKind::Constant)) return false;
  auto& slot = b.constants[t->value];
  if (slot) return *slot == value && then(b);
  return with(slot, std::optional(value), b, then);
}

}  // namespace texloom::ir::arith
