#include "ir/verify/verify_bounds.h"

#include "ir/analysis/symbolic_extents.h"
#include "ir/arith/extrema.h"
#include "ir/arith/linear.h"
#include "ir/arith/simplify.h"
#include "ir/visit.h"

namespace texloom::ir {
namespace {

// Larger indices are not checked: shared parts make them exponentially large, and proofs visit each
// occurrence.
constexpr uint32_t kMaxJudgedSize = 10'000;

// Whether a variable of this extent takes all its values, whatever the values of other variables
// are.
bool is_constant(const Expr& extent) { return int_value(extent) != nullptr; }

}  // namespace

void BoundsProof::enter(const Let& let) {
  ranges_.enter(let);
  if (!is_reached(let.value)) overestimated_.insert(let.var.get());
}

// A symbol has one value in a call, not all values of its interval.
BoundsProof::BoundsProof(const Program& program) : ranges_(ranges_of_symbols(program.params)) {
  for (const Expr& symbol : program.symbols) overestimated_.insert(symbol.get());
}

void BoundsProof::enter(const ThreadAxis& axis) {
  ranges_.enter(axis.var, axis.extent);
  if (!is_constant(axis.extent)) overestimated_.insert(axis.var.get());
}

void BoundsProof::enter(const For& loop) {
  const bool up_to_memory = arith::reads_memory(loop.extent, ranges_);
  ranges_.enter(loop);
  if (up_to_memory) ranges_.set_memory(loop.var);
  if (!is_constant(loop.extent)) overestimated_.insert(loop.var.get());
}

bool BoundsProof::is_reached(const Expr& e) const {
  bool reached = true, product = false, repeated = false;
  std::unordered_set<const ExprNode*> seen;
  walk(
      e,
      [&](const Binary& n) {
        const bool linear = n.op == BinaryOp::Add || n.op == BinaryOp::Sub || n.op == BinaryOp::Mul;
        reached = reached && linear;
        const bool scaled = int_value(n.a) != nullptr || int_value(n.b) != nullptr;
        product = product || (n.op == BinaryOp::Mul && !scaled);
      },
      [&](const Select&) { reached = false; },
      [&](const Var& n) {
        reached = reached && !overestimated_.contains(&n);
        repeated = !seen.insert(&n).second || repeated;
      });
  return reached && !(product && repeated);
}

bool BoundsProof::never_runs(const Expr& index) const {
  bool empty = false;
  walk(index, [&](const Var& n) {
    const arith::Interval values = arith::bounds(Expr(&n), ranges_);
    empty = empty || values.max < values.min;
  });
  return empty;
}

bool BoundsProof::inside(const Expr& index, int64_t extent) const {
  if (index->size > kMaxJudgedSize || never_runs(index)) return true;
  if (arith::bounds(index, ranges_).within(0, extent - 1)) return true;
  if (arith::reads_memory(index, ranges_)) return true;
  const Expr simple = arith::simplify(index, ranges_);
  const arith::Interval values =
      arith::is_index_type(index->type)
          ? arith::bounds_of_extrema(arith::linear_sum(simple, ranges_), ranges_)
          : arith::bounds(simple, ranges_);
  if (values.within(0, extent - 1)) return true;
  return !is_reached(simple) && values.max >= 0 && values.min < extent;
}

}  // namespace texloom::ir
