#include "lower/barriers/shared_access.h"

#include <algorithm>
#include <cstdlib>

#include "ir/arith/simplify.h"
#include "lower/barriers/thread_accesses.h"
#include "support/floor_division.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes
using arith::Interval;
using arith::LinearSum;
using arith::LinearTerm;
using arith::Ranges;

namespace {

// (var + phase) % copies
std::optional<Turn> turn_number(const Expr& e) {
  const auto* n = as<Binary>(e);
  if (n == nullptr || n->op != BinaryOp::FloorMod) return std::nullopt;
  const int64_t* copies = int_value(n->b);
  if (copies == nullptr || *copies < 2) return std::nullopt;
  const LinearSum sum = arith::linear_sum(n->a, {});
  const bool moved_variable = sum.terms.size() == 1 && sum.terms.front().coefficient == 1 &&
                              as<Var>(sum.terms.front().atom) != nullptr;
  if (!moved_variable) return std::nullopt;
  return Turn{sum.terms.front().atom, floor_mod(sum.constant, *copies), *copies, 0};
}

// The first index, and the distances of the lanes from it.
std::pair<Expr, Interval> lanes_of(const Expr& index) {
  const auto* ramp = as<Ramp>(index);
  if (ramp == nullptr) return {index, Interval::point(0)};
  const int64_t* stride = int_value(ramp->stride);
  if (stride == nullptr || *stride < 0) return {ramp->base, Interval::everything()};
  return {ramp->base, {0, *stride * (index->type.lanes - 1)}};
}

std::optional<Turn> turn_of(const Expr& index, const Ranges& ranges) {
  const auto [first, lanes] = lanes_of(index);
  if (!arith::is_index_type(first->type) || !lanes.bounded()) return std::nullopt;
  const LinearSum sum = arith::linear_sum(first, ranges);
  for (const LinearTerm& term : sum.terms) {
    std::optional<Turn> turn = turn_number(term.atom);
    if (!turn) continue;
    turn->size = term.coefficient;
    const auto copy = LinearSum::atom(term.atom).times(term.coefficient);
    const Interval within = sum.plus(*copy, -1).bounds(ranges);
    if (within.bounded() && within.min >= 0 && within.max + lanes.max < turn->size) return turn;
  }
  return std::nullopt;
}

bool same_copies(const Turn& a, const Turn& b) {
  return a.var.same_as(b.var) && a.copies == b.copies && a.size == b.size;
}

}  // namespace

SharedAccess::SharedAccess(const Buffer& accessed, const Exprs& indices, const Ranges& ranges,
                           const std::unordered_set<const ExprNode*>& varying)
    : buffer(accessed.get()) {
  if (indices.size() == 1) turn = turn_of(indices.front(), ranges);
  if (turn && varying.contains(turn->var.get())) turn.reset();
}

bool SharedAccess::may_meet(const SharedAccess& other) const {
  if (buffer != other.buffer) return false;
  if (!turn || !other.turn || !same_copies(*turn, *other.turn)) return true;
  return turn->phase == other.turn->phase;
}

bool SharedAccess::may_overwrite(const SharedAccess& other) const {
  return may_meet(other) && (place.empty() || !same_place(place, other.place));
}

bool SharedAccess::operator==(const SharedAccess& other) const {
  if (buffer != other.buffer || turn.has_value() != other.turn.has_value()) return false;
  if (!same_place(place, other.place)) return false;
  return !turn || (same_copies(*turn, *other.turn) && turn->phase == other.turn->phase);
}

void next_iteration(std::vector<SharedAccess>& accesses, const Expr& var) {
  for (SharedAccess& access : accesses) {
    if (access.turn && access.turn->var.same_as(var)) {
      access.turn->phase = floor_mod(access.turn->phase - 1, access.turn->copies);
    }
  }
}

void leave_loop(std::vector<SharedAccess>& accesses, const Expr& var) {
  for (SharedAccess& access : accesses) {
    if (access.turn && access.turn->var.same_as(var)) access.turn.reset();
  }
}

}  // namespace texloom::lower
