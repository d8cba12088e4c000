#include "ir/arith/ranges.h"

#include <algorithm>
#include <limits>

#include "ir/arith/simplify.h"
#include "ir/visit.h"

namespace texloom::ir::arith {
namespace {

// The factor f for which the sum contains all terms of f * `part`; 0 if there is none.
int64_t times_in(const LinearSum& sum, const LinearSum& part) {
  int64_t factor = 0;
  for (const LinearTerm& t : part.terms) {
    const int64_t other = sum.coefficient_of(t.atom);
    if (other == std::numeric_limits<int64_t>::min() || other % t.coefficient != 0) return 0;
    const int64_t own = other / t.coefficient;
    if (own == 0 || (factor != 0 && own != factor)) return 0;
    factor = own;
  }
  return factor;
}

// The values of the sum for which `sum op 0` is true.
Interval where_true(BinaryOp op) {
  constexpr int64_t kNone = Interval::kNone;
  switch (op) {
    case BinaryOp::Lt:
      return {-kNone, -1};
    case BinaryOp::Le:
      return {-kNone, 0};
    case BinaryOp::Gt:
      return {1, kNone};
    case BinaryOp::Ge:
      return {0, kNone};
    case BinaryOp::Eq:
      return {0, 0};
    default:
      return Interval::everything();
  }
}

BinaryOp opposite(BinaryOp op) {
  switch (op) {
    case BinaryOp::Lt:
      return BinaryOp::Ge;
    case BinaryOp::Le:
      return BinaryOp::Gt;
    case BinaryOp::Gt:
      return BinaryOp::Le;
    case BinaryOp::Ge:
      return BinaryOp::Lt;
    case BinaryOp::Eq:
      return BinaryOp::Ne;
    default:
      return BinaryOp::Eq;
  }
}

// The values of a loop's variable. The variable begins at 0, whatever the extent is.
Interval iterations(const Expr& loop_extent, const Ranges& ranges) {
  const Interval extent = bounds(loop_extent, ranges);
  return {0, extent.has_max() ? extent.max - 1 : Interval::kNone};
}

}  // namespace

void Ranges::widen(const Expr& var, Interval interval) {
  const auto [known, first] = known_.try_emplace(var.get(), Known{interval, {}});
  if (!first) known->second.interval = join(known->second.interval, interval);
}

void Ranges::limit(const LinearSum& sum, Interval interval) {
  const int64_t factor = sum.common_factor();
  if (factor == 0) return;
  if (const Expr& first = sum.terms.front().atom; sum.terms.size() == 1 && as<Var>(first)) {
    Interval& known = known_[first.get()].interval;
    known = meet(known, quotient_range(interval - Interval::point(sum.constant), factor));
    return;
  }
  KnownSum known{SumPart(sum, SumPart::Kind::Multiples, factor < 0 ? -factor : factor).copy(), {}};
  known.sum.constant = 0;
  known.interval =
      quotient_range(interval - Interval::point(sum.constant), factor < 0 ? -factor : factor);
  sums_.push_back(std::move(known));
}

Interval Ranges::of_sum(const LinearSum& sum) const {
  Interval all;
  for (const KnownSum& known : sums_) {
    const int64_t factor = times_in(sum, known.sum);
    if (factor == 0) continue;
    Interval interval = known.interval * Interval::point(factor) + Interval::point(sum.constant);
    for (const LinearTerm& t : sum.terms) {
      if (known.sum.coefficient_of(t.atom) != 0) continue;
      interval = interval + bounds(t.atom, *this) * Interval::point(t.coefficient);
    }
    all = meet(all, interval);
  }
  return all;
}

// Drops known sums with the variable: they come from another loop over the same variable.
void Ranges::forget_sums(const Expr& var) {
  std::erase_if(sums_, [&](const KnownSum& known) {
    return std::any_of(known.sum.terms.begin(), known.sum.terms.end(),
                       [&](const LinearTerm& t) { return uses_var(t.atom, var); });
  });
}

void Ranges::enter(const Expr& var, const Expr& extent) {
  forget_sums(var);
  set(var, iterations(extent, *this));
  if (int_value(extent) == nullptr) assume(var < extent);
}
void Ranges::enter_also(const For& loop) { widen(loop.var, iterations(loop.extent, *this)); }

void Ranges::enter(const Let& let) {
  if (reads_memory(let.value, *this)) return set_memory(let.var);
  if (!is_index_type(let.var->type)) return;
  set(let.var, bounds(let.value, *this));
  set_modular(let.var, modular(let.value, *this));
}

void Ranges::assume(const Expr& condition, bool holds) {
  if (const auto* n = as<Not>(condition)) return assume(n->value, !holds);
  const auto* n = as<Binary>(condition);
  if (n == nullptr) return;
  if (is_logical(n->op)) {
    // One operand decided the result, but it is not known which operand.
    if ((n->op == BinaryOp::And) != holds) return;
    assume(n->a, holds);
    assume(n->b, holds);
  } else if (is_comparison(n->op)) {
    assume_comparison(holds ? n->op : opposite(n->op), *n);
  }
}

void Ranges::assume_comparison(BinaryOp op, const Binary& n) {
  if (!is_index_type(n.a->type)) return;
  const LinearSum difference = linear_sum(n.a, *this).plus(linear_sum(n.b, *this), -1);
  if (reads_memory(difference, *this)) return;
  limit(difference, where_true(op));
}

}  // namespace texloom::ir::arith
