#include "schedule/bounds/early_end.h"

#include <algorithm>
#include <optional>

#include "ir/arith/simplify.h"
#include "schedule/attach.h"
#include "schedule/bounds/axis_values.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes
using arith::LinearSum;

namespace {

// Sums that are at most 0 at every point that takes part in the reduction.
class Limits {
 public:
  Limits(const Expr& condition, const arith::Ranges& ranges) : ranges_(ranges) { add(condition); }

  // The upper limits of the iterations that take part in the reduction, over variables outside the
  // loop.
  std::vector<Expr> ends_of(const LeafLoop& loop) const {
    std::vector<Expr> ends;
    for (const LinearSum& sum : sums_) {
      const int64_t step = sum.coefficient_of(loop.var);
      if (step <= 0 || is_hidden(sum, loop.var)) continue;
      const auto rest = without(sum, loop.var, step).times(-1);
      if (rest) ends.push_back(floordiv(rest->to_expr(kInt32), make_int(step)) + 1);
    }
    return ends;
  }

  // Rewrites the sums for use outside the loop: each keeps its least value over the iterations.
  // Drops the sums for which that value is not known.
  void leave(const LeafLoop& loop) {
    std::vector<LinearSum> outside;
    for (const LinearSum& sum : sums_) {
      if (is_hidden(sum, loop.var)) continue;
      const int64_t step = sum.coefficient_of(loop.var);
      LinearSum least = step == 0 ? sum : without(sum, loop.var, step);
      if (step < 0) {
        const auto last = arith::linear_sum(loop.extent - 1, ranges_).times(step);
        if (!last) continue;
        least = least.plus(*last, 1);
      }
      outside.push_back(std::move(least));
    }
    sums_ = std::move(outside);
  }

 private:
  void add(const Expr& condition) {
    const auto* n = as<Binary>(condition);
    if (n == nullptr) return;
    if (n->op == BinaryOp::And) {
      add(n->a);
      add(n->b);
      return;
    }
    const bool below = n->op == BinaryOp::Lt || n->op == BinaryOp::Le;
    const bool above = n->op == BinaryOp::Gt || n->op == BinaryOp::Ge;
    if ((!below && !above) || n->a->type != kInt32) return;
    LinearSum sum = arith::linear_sum(below ? n->a : n->b, ranges_)
                        .plus(arith::linear_sum(below ? n->b : n->a, ranges_), -1);
    if (n->op == BinaryOp::Lt || n->op == BinaryOp::Gt) ++sum.constant;
    if (!arith::reads_memory(sum, ranges_)) sums_.push_back(std::move(sum));
  }

  // Whether the variable occurs inside another term.
  static bool is_hidden(const LinearSum& sum, const Expr& var) {
    return std::any_of(sum.terms.begin(), sum.terms.end(), [&](const arith::LinearTerm& t) {
      return !t.atom.same_as(var) && uses_var(t.atom, var);
    });
  }

  static LinearSum without(const LinearSum& sum, const Expr& var, int64_t step) {
    return sum.plus(LinearSum{{{var, step}}, 0}, -1);
  }

  const arith::Ranges& ranges_;
  std::vector<LinearSum> sums_;
};

// Whether everything attached at this loop is computed by one thread only, or by separate kernels.
bool runs_alone(const Schedule& schedule, const LoopRef& loop) {
  return std::none_of(schedule.order().begin(), schedule.order().end(), [&](StageId id) {
    const Stage& stage = schedule.stage(id);
    if (stage.attachment.kind != AttachKind::At) return false;
    const LoopPath around = enclosing_loops(schedule, id);
    if (std::find(around.begin(), around.end(), loop) == around.end()) return false;
    return stage.double_buffered || stage.pipeline || threads_share_reduction(schedule, id) ||
           scope_of(schedule, id).memory == MemoryScope::Shared;
  });
}

bool may_end_early(const Schedule& schedule, const Stage& stage, const IterVar& leaf) {
  const AxisAttributes* attributes = stage.attributes_of(leaf);
  const bool serial = attributes == nullptr || attributes->loop == LoopKind::Serial ||
                      attributes->loop == LoopKind::Parallel;
  return serial && leaf->kind == IterKind::Reduction && !comes_from_data(stage, leaf) &&
         runs_alone(schedule, {stage.id, leaf});
}

}  // namespace

void end_loops_early(const Schedule& schedule, const Stage& stage, const arith::Ranges& ranges,
                     StageBounds& own) {
  const auto* reduce = as<Reduce>(stage.op->body);
  if (reduce == nullptr || !reduce->condition) return;
  if (scope_of(schedule, stage.id).memory == MemoryScope::Shared) return;
  Limits limits(substitute(reduce->condition, own.index), ranges);
  for (auto loop = own.loops.rbegin(); loop != own.loops.rend(); ++loop) {
    if (may_end_early(schedule, stage, loop->axis)) {
      for (const Expr& end : limits.ends_of(*loop)) {
        loop->end = arith::simplify(min(loop->end, end), ranges);
      }
    }
    limits.leave(*loop);
  }
}

}  // namespace texloom::schedule
