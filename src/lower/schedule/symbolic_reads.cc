#include "lower/schedule/symbolic_reads.h"

#include <algorithm>

#include "ir/arith/simplify.h"
#include "ir/equal.h"
#include "ir/visit.h"
#include "schedule/bounds/possible_reads.h"

namespace texloom::lower {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // the whole file also works on operations

namespace {

bool is_inside(const Expr& index, const Expr& extent, const arith::Ranges& ranges) {
  return arith::is_index_type(index->type) &&
         arith::prove(index >= make_int(0, index->type), ranges) &&
         arith::prove(index < make_cast(index->type, extent), ranges);
}

// Adds the stage's axes in indices that are not proven to be inside.
void add_doubtful_axes(const Stage& stage, const Bounds& bounds, std::vector<SymbolicAxis>& found) {
  const Exprs& ends = bounds.of(stage.id).end;
  std::vector<SymbolicAxis> left;
  arith::Ranges points = bounds.ranges;
  for (size_t i = 0; i < ends.size(); ++i) {
    points.enter(stage.op->axes[i]->var, ends[i]);
    if (int_value(ends[i]) == nullptr) left.push_back({stage.id, i});
  }
  if (left.empty()) return;
  for (const IterVar& axis : stage.op->reduce_axes) {
    if (is_int(axis->min, 0)) points.enter(axis->var, axis->extent);
  }
  const auto see = [&](const TensorRead& n, const arith::Ranges& known) {
    for (size_t i = 0; i < n.indices.size(); ++i) {
      if (is_inside(n.indices[i], n.tensor->shape[i], known)) continue;
      const auto certain = std::partition(left.begin(), left.end(), [&](const SymbolicAxis& each) {
        return uses_var(n.indices[i], stage.op->axes[each.axis]->var);
      });
      found.insert(found.end(), left.begin(), certain);
      left.erase(left.begin(), certain);
    }
  };
  for_each_possible_read(stage.op->body, points, see);
}

}  // namespace

std::vector<SymbolicAxis> doubtful_axes(const Schedule& schedule, const Bounds& bounds) {
  std::vector<SymbolicAxis> found;
  for (const StageId id : schedule.order()) {
    const Stage& stage = schedule.stage(id);
    if (!stage.op->is_compute() || stage.is_output || stage.scan >= 0) continue;
    add_doubtful_axes(stage, bounds, found);
  }
  return found;
}

bool one_ends_earlier(const std::vector<SymbolicAxis>& axes, const Bounds& narrow,
                      const Bounds& wide) {
  return std::any_of(axes.begin(), axes.end(), [&](const SymbolicAxis& each) {
    return !equal(narrow.of(each.stage).end[each.axis], wide.of(each.stage).end[each.axis]);
  });
}

}  // namespace texloom::lower
