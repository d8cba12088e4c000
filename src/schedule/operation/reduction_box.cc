#include "schedule/operation/reduction_box.h"

#include <algorithm>

#include "ir/arith/region.h"
#include "ir/arith/simplify.h"
#include "ir/program.h"
#include "ir/visit.h"
#include "support/diagnostic.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

namespace {

class Box {
 public:
  Box(const std::vector<IterVar>& axes, std::string_view name) : name_(name) {
    for (const IterVar& axis : axes) runs(axis->var, axis->min, axis->extent);
  }

  void add(const IterVar& axis, const std::vector<IterVar>& all) {
    const Expr min = substitute(axis->min, moved_);
    const Expr extent = substitute(axis->extent, moved_);
    check_order(axis, all);
    if (!depends(min) && !depends(extent)) {
      runs(axis->var, min, extent);
      axes_.push_back(axis);
      return;
    }
    Expr first = min, var = axis->var;
    if (depends(min)) {  // the axis starts at 0, and every use adds the first index
      first = make_int(0);
      var = make_var(axis->name(), axis->var->type, axis->location);
      moved_.emplace(axis->var, var + make_cast(var->type, min));
    }
    const Expr most = at_most(axis, extent);
    axes_.push_back(make_iter_var(var, first, most, IterKind::Reduction, axis->location));
    runs(var, first, most);
    const Expr inside = var < make_cast(var->type, arith::simplify(first + extent));
    condition_ = condition_ ? condition_ && inside : inside;
  }

  // The condition that selects the points of the domains; null if no domain depends on an axis.
  const Expr& condition() const { return condition_; }
  const std::vector<IterVar>& axes() const { return axes_; }
  const Substitution& moved() const { return moved_; }

 private:
  void runs(const Expr& var, const Expr& min, const Expr& extent) {
    running_.insert_or_assign(var, arith::Region{min, arith::simplify(min + extent - 1)});
  }

  bool depends(const Expr& e) const {
    return any_of(e, [&](const Var& v) { return running_.contains(Expr(&v)); });
  }

  void check_order(const IterVar& axis, const std::vector<IterVar>& all) const {
    for (const IterVar& other : all) {
      const bool before = running_.contains(other->var) || moved_.contains(other->var);
      if (before || (!uses_var(axis->min, other->var) && !uses_var(axis->extent, other->var))) {
        continue;
      }
      fail(axis->location, Code::BadReduction,
           "in axis=[...], name the axis before those whose domains use it",
           "the domain of the reduction axis '{}' of '{}' uses '{}', which is not "
           "named before it",
           axis->name(), name_, other->name());
    }
  }

  // A box has at least one point; the condition excludes it if the domain is empty.
  Expr at_most(const IterVar& axis, const Expr& extent) const {
    const auto region = arith::region_of(extent, running_, {});
    if (!region || depends(region->max)) {
      fail(axis->location, Code::BadReduction,
           "use + - * // % min and max of the axes, or give a constant range and where=",
           "the largest value of the reduction axis '{}' of '{}' is unknown: its extent is {}",
           axis->name(), name_, to_string(axis->extent));
    }
    const int64_t* number = int_value(region->max);
    return number != nullptr && *number < 1 ? make_int(1, extent->type) : region->max;
  }

  std::string_view name_;
  arith::RegionMap running_;
  Substitution moved_;  // replaces axes whose first index depends on others
  std::vector<IterVar> axes_;
  Expr condition_;
};

}  // namespace

Expr reduction_over_box(const Expr& body, const std::vector<IterVar>& axes, std::string_view name) {
  const auto* reduce = as<Reduce>(body);
  if (reduce == nullptr) return body;
  Box box(axes, name);
  for (const IterVar& axis : reduce->axes) box.add(axis, reduce->axes);
  if (!box.condition()) return body;
  Exprs sources;
  for (const Expr& e : reduce->sources) sources.push_back(substitute(e, box.moved()));
  Expr condition = box.condition();
  if (reduce->condition) condition = condition && substitute(reduce->condition, box.moved());
  return make_reduce(reduce->reducer, std::move(sources), box.axes(), condition, reduce->init,
                     reduce->location);
}

}  // namespace texloom::schedule
