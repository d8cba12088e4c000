#include "schedule/bounds/possible_reads.h"

#include "ir/arith/simplify.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

namespace {

// Assumes the condition or its negation, and returns whether the assumption can hold at these
// points.
bool assume(arith::Ranges& points, const Expr& condition, bool holds) {
  const Expr known = arith::simplify(condition, points);
  if (holds ? is_false(known) : is_true(known)) return false;
  points.assume(condition, holds);
  bool possible = true;
  walk(condition, [&](const Var& v) {
    const arith::Interval values = points.of(&v);
    possible = possible && values.min <= values.max;
  });
  return possible;
}

}  // namespace

void for_each_possible_read(const Expr& e, const arith::Ranges& points,
                            FunctionRef<void(const TensorRead&, const arith::Ranges&)> see) {
  const auto visit = [&](const Expr& part) { for_each_possible_read(part, points, see); };
  const auto visit_under = [&](const Expr& condition, bool holds, const Expr& part) {
    arith::Ranges inside = points;
    if (assume(inside, condition, holds)) for_each_possible_read(part, inside, see);
  };
  if (const auto* n = as<TensorRead>(e)) see(*n, points);
  if (const auto* n = as<Select>(e)) {
    visit(n->condition);
    visit_under(n->condition, true, n->if_true);
    visit_under(n->condition, false, n->if_false);
  } else if (const auto* sum = as<Reduce>(e); sum != nullptr && sum->condition) {
    visit(sum->condition);
    for (const Expr& source : sum->sources) visit_under(sum->condition, true, source);
    for (const Expr& init : sum->init) visit(init);
  } else {
    for_each_child(e, visit);
  }
}

}  // namespace texloom::schedule
