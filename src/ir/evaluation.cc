#include "ir/evaluation.h"

#include <algorithm>
#include <unordered_set>

#include "ir/equal.h"
#include "ir/visit.h"

namespace texloom::ir {
namespace {

bool is_nonzero_constant(const Expr& e) {
  if (const auto* all = as<Broadcast>(e)) return is_nonzero_constant(all->value);
  if (const auto* pack = as<Pack>(e)) {
    return std::all_of(pack->elements.begin(), pack->elements.end(), is_nonzero_constant);
  }
  const int64_t* value = int_value(e);
  return value != nullptr && *value != 0;
}

// The constructor has checked constant indices; a remainder by the number of lanes is always valid.
bool lane_may_be_none(const Lane& n) {
  if (int_value(n.index) != nullptr) return false;
  const auto* remainder = as<Binary>(n.index);
  const bool one_of_them = remainder != nullptr && remainder->op == BinaryOp::FloorMod &&
                           is_int(remainder->b, n.vector->type.lanes);
  return !one_of_them;
}

}  // namespace

bool always_evaluates(const Expr& node, int operand) {
  if (operand == 0) return true;
  if (node->kind == ExprKind::Select) return false;
  const auto* binary = as<Binary>(node);
  return binary == nullptr || !is_logical(binary->op);
}

bool division_may_fail(const Binary& n) {
  return is_division(n.op) && !n.type.is_float() && !is_nonzero_constant(n.b);
}

bool may_fail(const Expr& node) {
  if (node->kind == ExprKind::Load || node->kind == ExprKind::ForeignCall) return true;
  if (const auto* lane = as<Lane>(node)) return lane_may_be_none(*lane);
  const auto* n = as<Binary>(node);
  return n != nullptr && division_may_fail(*n);
}

bool Failures::possible_in(const Expr& e) {
  if (const auto found = known_.find(e); found != known_.end()) return found->second;
  bool possible = may_fail(e);
  for_each_child(e, [&](const Expr& child) { possible = possible_in(child) || possible; });
  known_.emplace(e, possible);
  return possible;
}

namespace {

using Nodes = std::unordered_set<Expr, RefHash, RefSame>;

// Adds the nodes that an evaluation of `e` evaluates in any case.
void collect_evaluated(const Expr& e, Nodes& found) {
  if (!found.insert(e).second) return;
  int operand = 0;
  for_each_child(e, [&](const Expr& child) {
    if (always_evaluates(e, operand++)) collect_evaluated(child, found);
  });
}

}  // namespace

bool Failures::possible_after(const Expr& before, const Expr& e) {
  if (!possible_in(e)) return false;
  Nodes evaluated, seen;
  collect_evaluated(before, evaluated);
  std::erase_if(evaluated, [](const Expr& node) { return !may_fail(node); });
  const auto fails = [&](const auto& self, const Expr& node) -> bool {
    if (!possible_in(node) || !seen.insert(node).second) return false;
    if (std::ranges::any_of(evaluated, [&](const Expr& done) { return equal(done, node); }))
      return false;
    bool found = may_fail(node);
    for_each_child(node, [&](const Expr& child) { found = found || self(self, child); });
    return found;
  };
  return fails(fails, e);
}

}  // namespace texloom::ir
