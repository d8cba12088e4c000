#include "lower/kernels/index_conditions.h"

#include <limits>

#include "ir/arith/simplify.h"
#include "ir/visit.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes
using arith::Interval;
using arith::LinearSum;

namespace {

// One lane of a vector; null if there is no simple form. Ramps are monotonic, so their first and
// last lanes are the extremes.
Expr simple_lane(const Expr& e, int lane) {
  if (e->type.is_scalar()) return e;
  if (const auto* all = as<Broadcast>(e)) return all->value;
  const auto* ramp = as<Ramp>(e);
  return ramp == nullptr ? Expr() : ramp->base + ramp->stride * lane;
}

}  // namespace

std::span<const IndexCondition> IndexConditions::inside(const For& loop) const {
  const Part part = of_loop_.at(&loop);
  return all().subspan(part.first, part.count);
}

void IndexConditions::stmt(const Stmt& s) {
  const size_t first = tests_.size();
  if (const auto* guard = as<If>(s)) condition(guard->condition);
  for_each_child(s, [&](const Expr& e) { expr(e); }, [&](const Stmt& child) { stmt(child); });
  if (s->kind == StmtKind::For) of_loop_[s.get()] = {first, tests_.size() - first};
}

void IndexConditions::expr(const Expr& e) {
  if (const auto* choice = as<Select>(e)) condition(choice->condition);
  if (e->size > 1) for_each_child(e, [&](const Expr& child) { expr(child); });
}

void IndexConditions::condition(const Expr& e) {
  const auto* n = as<Binary>(e);
  if (n == nullptr) return;
  if (n->op == BinaryOp::And) {
    condition(n->a);
    condition(n->b);
  } else if (is_comparison(n->op)) {
    comparison(n->op, n->a, n->b, 0);
    if (!n->type.is_scalar()) comparison(n->op, n->a, n->b, n->type.lanes - 1);
  }
}

void IndexConditions::comparison(BinaryOp op, const Expr& a, const Expr& b, int lane) {
  const Expr left = simple_lane(a, lane), right = simple_lane(b, lane);
  if (!left || !right || !arith::is_index_type(left->type)) return;
  IndexCondition test;
  switch (op) {
    case BinaryOp::Lt:
      test.holds.max = -1;
      break;
    case BinaryOp::Le:
      test.holds.max = 0;
      break;
    case BinaryOp::Gt:
      test.holds.min = 1;
      break;
    case BinaryOp::Ge:
      test.holds.min = 0;
      break;
    default:
      return;
  }
  test.sum = arith::linear_sum(left, {}).plus(arith::linear_sum(right, {}), -1);
  if (!arith::reads_memory(test.sum)) tests_.push_back(std::move(test));
}

Interval where_certain(const IndexCondition& test, const Expr& var, const arith::Ranges& ranges) {
  const int64_t factor = test.sum.coefficient_of(var);
  if (factor == 0) return Interval::everything();
  LinearSum rest;
  rest.constant = test.sum.constant;
  for (const arith::LinearTerm& t : test.sum.terms) {
    if (t.atom.same_as(var)) continue;
    if (uses_var(t.atom, var)) return Interval::everything();
    rest.terms.push_back(t);
  }
  const Interval others = rest.bounds(ranges);
  constexpr Interval kNowhere{0, -1};
  if (factor == std::numeric_limits<int64_t>::min()) return kNowhere;
  const bool from_below = test.holds.has_max();
  if (from_below ? !others.has_max() : !others.has_min()) return kNowhere;
  const Interval product = from_below ? Interval{-Interval::kNone, test.holds.max - others.max}
                                      : Interval{test.holds.min - others.min, Interval::kNone};
  return arith::quotient_range(product, factor);
}

}  // namespace texloom::lower
