#include "lower/loops/vector_tail.h"

#include "ir/arith/linear.h"
#include "ir/arith/modular.h"
#include "ir/arith/simplify.h"
#include "ir/visit.h"
#include "support/floor_division.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes

namespace {

// Adds the conditions of a conjunction to the tail; returns false if one has no such form.
bool add(const Expr& condition, const Expr& lane, int lanes, VectorTail& tail) {
  const auto* n = as<Binary>(condition);
  if (n != nullptr && n->op == BinaryOp::And)
    return add(n->a, lane, lanes, tail) && add(n->b, lane, lanes, tail);
  if (!uses_var(condition, lane)) {
    tail.others = tail.others ? tail.others && condition : condition;
    return true;
  }
  const bool is_bound = n != nullptr && n->op == BinaryOp::Lt && arith::is_index_type(n->a->type);
  if (!is_bound || tail.room || arith::reads_memory(condition)) return false;
  const arith::LinearSum room = arith::linear_sum(n->b, {}).plus(arith::linear_sum(n->a, {}), -1);
  if (room.coefficient_of(lane) != -1) return false;
  const arith::LinearSum first = room.plus(arith::LinearSum::atom(lane), 1);
  const arith::Modular modular = first.modular({});
  const int64_t modulus = modular.modulus;
  if (modulus != 0 && modulus % lanes != 0) return false;
  tail.room = first.to_expr(n->a->type);
  tail.rest = static_cast<int>(floor_mod(modular.residue, lanes));
  return !uses_var(tail.room, lane);
}

}  // namespace

std::optional<VectorTail> tail_of(const Expr& guard, const Expr& lane, int lanes) {
  VectorTail tail;
  if (!add(guard, lane, lanes, tail) || !tail.room) return std::nullopt;
  return tail;
}

}  // namespace texloom::lower
