#include "lower/schedule/check_reads.h"

#include <algorithm>

#include "ir/arith/linear.h"
#include "ir/arith/simplify.h"
#include "ir/evaluation.h"
#include "ir/program.h"
#include "ir/visit.h"

namespace texloom::lower {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // and on operations

namespace {

// A variable, or a variable plus a constant.
bool takes_every_value(const Expr& e) {
  if (e->kind == ExprKind::Var) return true;
  const auto* n = as<Binary>(e);
  const bool moved = n != nullptr && (n->op == BinaryOp::Add || n->op == BinaryOp::Sub);
  return moved && ((n->a->kind == ExprKind::Var && int_value(n->b) != nullptr) ||
                   (n->b->kind == ExprKind::Var && int_value(n->a) != nullptr));
}

bool has_exact_operations(const Expr& e) {
  if (e->kind == ExprKind::IntImm || e->kind == ExprKind::Var) return true;
  const auto* n = as<Binary>(e);
  if (n == nullptr) return false;
  switch (n->op) {
    case BinaryOp::Add:
    case BinaryOp::Sub:
    case BinaryOp::Mul:
    case BinaryOp::Min:
    case BinaryOp::Max:
      return has_exact_operations(n->a) && has_exact_operations(n->b);
    case BinaryOp::FloorDiv:
      return int_value(n->b) != nullptr && has_exact_operations(n->a);
    case BinaryOp::FloorMod:
      return int_value(n->b) != nullptr && takes_every_value(n->a);
    default:
      return false;
  }
}

// Whether the expression reaches both ends of its interval: each variable occurs once, in
// operations that reach their extremes at the extremes of their operands.
bool has_exact_bounds(const Expr& index) {
  std::vector<const Var*> seen;
  bool once = true;
  walk(index, [&](const Var& v) {
    once = once && std::find(seen.begin(), seen.end(), &v) == seen.end();
    seen.push_back(&v);
  });
  return once && has_exact_operations(index);
}

class Checker {
 public:
  Checker(const Operation& op, arith::Ranges ranges, DiagnosticSink& sink)
      : op_(op), ranges_(std::move(ranges)), sink_(sink) {
    for (const auto* axes : {&op.axes, &op.reduce_axes}) {
      for (const IterVar& axis : *axes) {
        const int64_t* min = int_value(axis->min);
        const int64_t* extent = int_value(axis->extent);
        const bool known = ranges_.of(axis->var.get()) != arith::Interval::everything();
        if (min && extent && !known) ranges_.set(axis->var, {*min, *min + *extent - 1});
      }
    }
  }

  // Visits the parts that are evaluated at every point.
  void check(const Expr& e) {
    if (const auto* n = as<TensorRead>(e)) {
      for (size_t i = 0; i < n->indices.size(); ++i) check_index(*n, i);
    }
    if (const auto* n = as<Binary>(e)) check_overflow(*n, e);
    int operand = 0;
    for_each_child(e, [&](const Expr& child) {
      if (always_evaluates(e, operand++)) check(child);
    });
  }

 private:
  // Arithmetic on axes must not wrap, because lowering reasons about it. Arithmetic on values from
  // memory may wrap.
  void check_overflow(const Binary& n, const Expr& self) {
    const bool grows = n.op == BinaryOp::Add || n.op == BinaryOp::Sub || n.op == BinaryOp::Mul;
    if (!grows || n.type != kInt32 || overflowed_) return;
    const arith::LinearSum sum = arith::linear_sum(self, ranges_);
    const arith::Interval range = sum.bounds(ranges_);
    if (arith::reads_memory(sum) || !range.bounded() || range.within(INT32_MIN, INT32_MAX)) return;
    overflowed_ = true;
    sink_.error(n.location.known() ? n.location : op_.location, Code::IndexTooLarge,
                "cast an axis to int64 first: .astype(\"int64\"), or to uint32 if it should wrap",
                "'{}' computes values between {} and {} from its axes, which int32 cannot "
                "represent",
                op_.name, range.min, range.max);
  }

  void check_index(const TensorRead& n, size_t i) {
    const int64_t* extent = int_value(n.tensor->shape[i]);
    const Expr index = arith::simplify(n.indices[i], ranges_);
    const arith::Interval range = arith::bounds(index, ranges_);
    if (extent == nullptr || !range.bounded() || range.within(0, *extent - 1)) return;
    const bool outside = range.max < 0 || range.min >= *extent;
    if (!outside && !has_exact_bounds(index)) return;
    sink_.error(op_.location, Code::OutOfBounds,
                "guard the read with te.if_then_else, or shrink the axes",
                "'{}' reads axis {} of '{}' at indices {} to {}, but that axis has only the "
                "indices 0 to {}",
                op_.name, i, n.tensor->name, range.min, range.max, *extent - 1);
  }

  const Operation& op_;
  arith::Ranges ranges_;
  DiagnosticSink& sink_;
  bool overflowed_ = false;  // one report is enough
};

// The values of the stage's data axes at the points that are computed. A region may exceed the
// shape; its points there are not computed.
arith::Ranges computed_indices(const Stage& stage, const Bounds& bounds) {
  const StageBounds& own = bounds.of(stage.id);
  const Exprs& mins = own.clamps.empty() ? own.min : own.clamped_min;
  arith::Ranges indices;
  for (size_t i = 0; i < stage.op->axes.size(); ++i) {
    const int64_t* extent = int_value(own.extent[i]);
    const arith::Interval first = arith::bounds(mins[i], bounds.ranges);
    if (extent == nullptr || !first.bounded()) continue;
    const IterVar& axis = stage.op->axes[i];
    const int64_t last = first.max + *int_value(own.strides[i].offset_of(make_int(*extent - 1)));
    const int64_t* whole = int_value(axis->extent);
    indices.set(axis->var, {std::max<int64_t>(first.min, 0),
                            whole == nullptr ? last : std::min(last, *whole - 1)});
  }
  return indices;
}

}  // namespace

void check_computed_reads(const Schedule& s, const Bounds& bounds) {
  DiagnosticSink sink;
  for (const StageId id : s.order()) {
    const Stage& stage = s.stage(id);
    const bool computed = stage.op->is_compute() && stage.attachment.kind != AttachKind::Inline;
    if (computed && stage.scan < 0) check_reads(*stage.op, computed_indices(stage, bounds), sink);
  }
  sink.throw_if_errors();
}

void check_reads(const Operation& op, arith::Ranges known, DiagnosticSink& sink) {
  const auto* reduce = as<Reduce>(op.body);
  if (reduce != nullptr && reduce->condition) return;
  Checker(op, std::move(known), sink).check(op.body);
}

}  // namespace texloom::lower
