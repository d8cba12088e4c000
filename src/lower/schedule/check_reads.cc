#include "lower/schedule/check_reads.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "ir/arith/linear.h"
#include "ir/arith/simplify.h"
#include "ir/evaluation.h"
#include "ir/program.h"
#include "ir/visit.h"
#include "lower/schedule/outside_point.h"
#include "lower/schedule/symbolic_reads.h"
#include "support/int128.h"

namespace texloom::lower {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // the whole file also works on operations

namespace {

// Whether the expression is a variable, or a variable plus a constant.
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

// Whether the condition compares a variable, or a variable plus a constant, with a constant, by an
// operator other than !=.
bool limits_one_variable(const Expr& condition, bool holds) {
  const auto* n = as<Binary>(condition);
  if (n == nullptr || !is_comparison(n->op) || !arith::is_index_type(n->a->type)) return false;
  if (n->op == (holds ? BinaryOp::Ne : BinaryOp::Eq)) return false;
  return (takes_every_value(n->a) && int_value(n->b) != nullptr) ||
         (takes_every_value(n->b) && int_value(n->a) != nullptr);
}

// Whether the condition holds for exactly the values of the variables that Ranges::assume() leaves.
bool is_box(const Expr& condition, bool holds) {
  if (const auto* n = as<Not>(condition)) return is_box(n->value, !holds);
  const auto* n = as<Binary>(condition);
  if (n == nullptr || !is_logical(n->op)) return limits_one_variable(condition, holds);
  return (n->op == BinaryOp::And) == holds && is_box(n->a, holds) && is_box(n->b, holds);
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

  // Visits the parts of an expression that are evaluated at every point, and the parts under
  // conditions.
  void check(const Expr& e) {
    if (const auto* n = as<Binary>(e); n != nullptr && path_.empty()) check_overflow(*n, e);
    check_operands(e);
    // The values of an index that overflows are unknown: then only the overflow is reported.
    const auto* n = as<TensorRead>(e);
    if (n == nullptr || overflowed_) return;
    for (size_t i = 0; i < n->indices.size(); ++i) check_index(*n, i);
  }

  void check_operands(const Expr& e) {
    const auto* select = as<Select>(e);
    const auto* logical = as<Binary>(e);
    int operand = 0;
    for_each_child(e, [&](const Expr& child) {
      if (always_evaluates(e, operand++)) {
        check(child);
      } else if (logical != nullptr) {
        check_under(logical->a, logical->op == BinaryOp::And, child);
      }
    });
    if (select == nullptr) return;
    check_under(select->condition, true, select->if_true);
    check_under(select->condition, false, select->if_false);
  }

  void check_under(const Expr& condition, bool holds, const Expr& e) {
    const Expr known = arith::simplify(condition, ranges_);
    if (holds ? is_false(known) : is_true(known)) return;
    const bool always = holds ? is_true(known) : is_false(known);
    arith::Ranges outside = ranges_;
    const bool known_values = known_values_ && (always || takes_known_values(condition));
    const bool understood = understood_ && known_values && (always || is_box(condition, holds));
    const bool outer = std::exchange(understood_, understood);
    const bool outer_values = std::exchange(known_values_, known_values);
    path_.push_back({condition, holds});
    ranges_.assume(condition, holds);
    const Expr inside = arith::simplify(condition, ranges_);
    // Parts of the condition may contradict each other.
    bool runs = holds ? !is_false(inside) : !is_true(inside);
    walk(condition, [&](const Var& v) {
      const arith::Interval values = ranges_.of(&v);
      runs = runs && values.min <= values.max;
    });
    if (runs) check(e);
    path_.pop_back();
    understood_ = outer;
    known_values_ = outer_values;
    ranges_ = std::move(outside);
  }

  int64_t doubts() const { return doubts_; }

 private:
  // Whether the variables take all values of their ranges: a symbolic axis may end earlier.
  bool takes_known_values(const Expr& condition) const {
    bool known = true;
    walk(condition, [&](const Var& v) { known = known && ranges_.of(&v).bounded(); });
    return known;
  }

  // Arithmetic on axes must not wrap, because lowering reasons about it. Arithmetic on values from
  // memory may wrap.
  void check_overflow(const Binary& n, const Expr& self) {
    if (n.type != kInt32 || overflowed_ || arith::reads_memory(self, ranges_)) return;
    const arith::Interval range = exact_values(n, self);
    if (!range.bounded() || range.within(INT32_MIN, INT32_MAX)) return;
    overflowed_ = true;
    sink_.error(n.location.known() ? n.location : op_.location, Code::IndexTooLarge,
                "cast an axis to int64 first: .astype(\"int64\"), or to uint32 if it should wrap",
                "'{}' computes values between {} and {} from its axes, outside the range "
                "of int32",
                op_.name, range.min, range.max);
  }

  // The values of a sum, a product or a left shift that does not wrap; all values for another
  // operation.
  arith::Interval exact_values(const Binary& n, const Expr& self) const {
    const arith::Interval a = arith::bounds(n.a, ranges_), b = arith::bounds(n.b, ranges_);
    switch (n.op) {
      case BinaryOp::Add:
      case BinaryOp::Sub:
        return arith::linear_sum(self, ranges_).bounds(ranges_);
      case BinaryOp::Mul:
        return of_one_variable(n).value_or(a * b);
      case BinaryOp::Shl:
        if (b.is_point() && b.min >= 0 && b.min < 32) {
          return a * arith::Interval::point(int64_t{1} << b.min);
        }
        return arith::Interval::everything();
      default:
        return arith::Interval::everything();
    }
  }

  // The exact values of a product whose factors are linear in the same variable: a parabola.
  std::optional<arith::Interval> of_one_variable(const Binary& n) const {
    const arith::LinearSum a = arith::linear_sum(n.a, ranges_), b = arith::linear_sum(n.b, ranges_);
    if (a.terms.size() != 1 || b.terms.size() != 1) return std::nullopt;
    const arith::LinearTerm &x = a.terms.front(), &y = b.terms.front();
    const arith::Interval values = ranges_.of(x.atom.get());
    if (!x.atom.same_as(y.atom) || !values.within(INT32_MIN, INT32_MAX)) return std::nullopt;
    const auto at = [&](int64_t v) {
      const int128 product = (static_cast<int128>(x.coefficient) * v + a.constant) *
                             (static_cast<int128>(y.coefficient) * v + b.constant);
      return static_cast<int64_t>(std::clamp<int128>(product, INT64_MIN / 8, INT64_MAX / 8));
    };
    // The vertex is halfway between the zeros of the factors.
    const double vertex = -(static_cast<double>(a.constant) / static_cast<double>(x.coefficient) +
                            static_cast<double>(b.constant) / static_cast<double>(y.coefficient)) /
                          2;
    arith::Interval exact =
        join(arith::Interval::point(at(values.min)), arith::Interval::point(at(values.max)));
    for (const double near : {std::floor(vertex), std::ceil(vertex)}) {
      if (near < static_cast<double>(values.min) || near > static_cast<double>(values.max))
        continue;
      exact = join(exact, arith::Interval::point(at(static_cast<int64_t>(near))));
    }
    return exact;
  }

  void check_index(const TensorRead& n, size_t i) {
    const int64_t* extent = int_value(n.tensor->shape[i]);
    const Expr index = arith::simplify(n.indices[i], ranges_);
    const arith::Interval range = arith::bounds(index, ranges_);
    if (extent == nullptr || range.within(0, *extent - 1)) return;
    const bool outside = range.max < 0 || range.min >= *extent;
    if (understood_ && range.bounded() && (outside || has_exact_bounds(index))) {
      return refuse(n, i, fmt::format("at indices {} to {}", range.min, range.max));
    }
    if (known_values_) {
      const auto point = find_outside_point(n.indices[i], *extent, path_, ranges_);
      if (point)
        return refuse(n, i, fmt::format("at index {} where {}", point->index, point->axes));
    }
    doubts_ += range.bounded() ? 1 : 0;
  }

  void refuse(const TensorRead& n, size_t i, const std::string& where) const {
    sink_.error(op_.location, Code::OutOfBounds,
                path_.empty() ? "guard the read with te.if_then_else, or shrink the axes"
                              : "narrow the condition of the read, or shrink the axes",
                "'{}' reads axis {} of '{}' {}, but that axis has only the indices 0 to {}",
                op_.name, i, n.tensor->name, where, *int_value(n.tensor->shape[i]) - 1);
  }

  const Operation& op_;
  arith::Ranges ranges_;
  DiagnosticSink& sink_;
  bool overflowed_ = false;  // one report is enough
  std::vector<PathCondition> path_;
  bool understood_ = true;    // ranges_ are exactly the values that the path leaves
  bool known_values_ = true;  // the path depends on no axis whose extent is symbolic
  int64_t doubts_ = 0;
};

// The values that the stage's data axes are certain to take. A region may exceed the shape, but
// points outside the shape are not computed. An axis of symbolic extent may end after its first
// value.
arith::Ranges computed_indices(const Stage& stage, const Bounds& bounds) {
  const StageBounds& own = bounds.of(stage.id);
  const Exprs& mins = own.clamps.empty() ? own.min : own.clamped_min;
  arith::Ranges indices;
  for (size_t i = 0; i < stage.op->axes.size(); ++i) {
    const Expr& axis = stage.op->axes[i]->var;
    const int64_t *first = int_value(own.first[i]), *end = int_value(own.end[i]);
    arith::Interval computed{*first, end == nullptr ? arith::Interval::kNone : *end - 1};
    const int64_t* extent = int_value(own.extent[i]);
    const arith::Interval region = arith::bounds(mins[i], bounds.ranges);
    if (extent != nullptr && region.bounded()) {
      const int64_t size = *int_value(own.strides[i].offset_of(make_int(*extent - 1)));
      computed = meet(computed, {region.min, region.max + size});
    }
    if (!computed.bounded()) continue;
    indices.set(axis, end == nullptr ? arith::Interval::point(computed.min) : computed);
  }
  return indices;
}

// Runs check_reads for all computes except those in the steps of scans, at the points that the
// bounds compute: other points of an operation may read outside of tensors. Returns the number of
// reads that are only assumed to be guarded.
int64_t check_computed_reads(const Schedule& s, const Bounds& bounds, DiagnosticSink& sink) {
  int64_t doubts = 0;
  for (const StageId id : s.order()) {
    const Stage& stage = s.stage(id);
    const bool computed = stage.op->is_compute() && stage.attachment.kind != AttachKind::Inline;
    if (!computed || stage.scan >= 0 || bounds.of(id).is_empty()) continue;
    doubts += check_reads(*stage.op, computed_indices(stage, bounds), sink);
  }
  return doubts;
}

}  // namespace

Bounds infer_checked_bounds(const Schedule& s) {
  Bounds wide = infer_bounds(s);
  DiagnosticSink of_wide;
  const int64_t doubts = check_computed_reads(s, wide, of_wide);
  const std::vector<SymbolicAxis> doubtful = doubtful_axes(s, wide);
  const bool refused = !of_wide.diagnostics().empty();
  if (!refused && doubts == 0 && doubtful.empty()) return wide;
  Bounds narrow = infer_bounds(s, Points::Needed);
  DiagnosticSink of_narrow;
  const bool fewer = check_computed_reads(s, narrow, of_narrow) < doubts;
  of_narrow.throw_if_errors();
  return refused || fewer || one_ends_earlier(doubtful, narrow, wide) ? narrow : wide;
}

int64_t check_reads(const Operation& op, arith::Ranges known, DiagnosticSink& sink) {
  Checker checker(op, std::move(known), sink);
  const auto* reduce = as<Reduce>(op.body);
  if (reduce == nullptr || !reduce->condition) {
    checker.check(op.body);
    return checker.doubts();
  }
  checker.check(reduce->condition);
  for (const Expr& source : reduce->sources) checker.check_under(reduce->condition, true, source);
  return checker.doubts();
}

}  // namespace texloom::lower
