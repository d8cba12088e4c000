#include "lower/build/store_once.h"

#include <algorithm>

#include "ir/arith/simplify.h"
#include "ir/visit.h"
#include "lower/barriers/equal_indices.h"
#include "support/magnitude.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes
using schedule::StageBounds;

namespace {

// One term of the index at which regions along an axis begin: a loop variable times a stride. The
// strides of one axis are all positive or all negative.
struct Step {
  const LoopAround* loop = nullptr;
  int64_t stride = 0;  // the absolute value of the stride
  int64_t extent = 0;

  int64_t span() const { return stride * (extent - 1); }
};

struct Progression {
  std::vector<Step> regions;  // in descending order of strides; no two regions begin at one index
  Substitution first;         // the first values of inner loops, which one thread runs
  int64_t width = 0;          // the width of the regions of all iterations of the inner loops
};

class ElementOwner {
 public:
  ElementOwner(const StageBounds& region, const std::vector<LoopAround>& loops, const Exprs& places,
               const arith::Ranges& ranges)
      : region_(region), loops_(loops), ranges_(ranges) {
    for (size_t i = 0; i < places.size(); ++i) {
      indices_.push_back(region.min[i] + region.strides[i].offset_of(places[i]));
    }
    EqualIndices::Variables variables;
    for (const LoopAround& loop : loops) variables.insert(loop.var.get());
    for (const Expr& place : places) variables.insert(place.get());
    const EqualIndices equal(indices_, indices_, variables, ranges);
    for (const LoopAround& loop : loops) {
      if (!equal.holds(loop.var)) open_.push_back(&loop);
    }
  }

  std::optional<Expr> condition() {
    Expr stores = make_bool(true);
    for (const Expr& clamp : region_.clamps) {
      if (stands_still(clamp)) runs_.push_back(clamp);
    }
    for (const Expr& clamp : runs_) stores = stores && clamp;
    for (const LoopAround& loop : loops_) {
      if (loop.is_thread && !moves_region(loop)) {
        stores = stores && make_binary(BinaryOp::Eq, loop.var, make_int(0, loop.var->type));
      }
    }
    for (size_t axis = 0; axis < indices_.size(); ++axis) {
      if (!has_open_thread(axis)) continue;
      const std::optional<Progression> regions = progression(axis);
      if (!regions) return std::nullopt;
      stores = stores && make_not(is_in_later_region(axis, *regions));
    }
    return arith::simplify(stores, ranges_);
  }

 private:
  // Whether the clamp belongs to the reader; other clamps belong to the stage's own loops.
  bool stands_still(const Expr& clamp) const {
    return std::none_of(region_.loops.begin(), region_.loops.end(),
                        [&](const auto& loop) { return uses_var(clamp, loop.var); });
  }

  bool moves_region(const LoopAround& loop) const {
    const auto uses = [&](const Expr& e) { return uses_var(e, loop.var); };
    return std::any_of(region_.min.begin(), region_.min.end(), uses) ||
           std::any_of(region_.extent.begin(), region_.extent.end(), uses);
  }

  // Whether the expression uses the variable of a loop whose iterations, in different threads, may
  // compute the same element.
  bool is_open(const Expr& e) const {
    return std::any_of(open_.begin(), open_.end(),
                       [&](const LoopAround* loop) { return uses_var(e, loop->var); });
  }

  bool has_open_thread(size_t axis) const {
    return std::any_of(open_.begin(), open_.end(), [&](const LoopAround* loop) {
      return loop->is_thread && uses_var(region_.min[axis], loop->var);
    });
  }

  std::optional<Progression> progression(size_t axis) const {
    const int64_t* extent = int_value(region_.extent[axis]);
    if (extent == nullptr || region_.strides[axis].leaves_out()) return std::nullopt;
    bool rises = true;
    std::optional<std::vector<Step>> steps = steps_of(axis, rises);
    if (!steps || !runs_in_order(axis)) return std::nullopt;
    Progression found{{}, {}, *extent};
    while (!steps->empty() && !steps->back().loop->is_thread) {
      const Step& step = steps->back();
      // The thread computes the regions of all iterations of this loop, but if a gap is between
      // them, the region of another thread may be in that gap.
      if (step.stride > found.width || is_in_clamps(step)) break;
      found.width += step.span();
      found.first.emplace(step.loop->var, make_int(rises ? 0 : step.extent - 1));
      steps->pop_back();
    }
    int64_t span = 0;
    for (auto step = steps->rbegin(); step != steps->rend(); ++step) {
      if (step->stride <= span) return std::nullopt;
      span += step->span();
    }
    found.regions = std::move(*steps);
    return found;
  }

  // The terms of the index along the axis. nullopt unless the index is a sum of multiples of
  // variables that move the region along only this axis.
  std::optional<std::vector<Step>> steps_of(size_t axis, bool& rises) const {
    std::vector<Step> steps;
    size_t falling = 0;
    for (const arith::LinearTerm& term : arith::linear_sum(region_.min[axis], ranges_).terms) {
      if (!is_open(term.atom)) continue;
      const auto loop = std::find_if(open_.begin(), open_.end(), [&](const LoopAround* l) {
        return l->var.same_as(term.atom);
      });
      if (loop == open_.end() || (*loop)->ends_early || !moves_alone(**loop, axis)) return {};
      const int64_t* extent = int_value((*loop)->extent);
      if (extent == nullptr) return {};
      if (term.coefficient < 0) ++falling;
      steps.push_back({*loop, static_cast<int64_t>(magnitude(term.coefficient)), *extent});
    }
    if (falling != 0 && falling != steps.size()) return {};
    rises = falling == 0;
    std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
      if (a.stride != b.stride) return a.stride > b.stride;
      return a.loop->is_thread && !b.loop->is_thread;
    });
    return steps;
  }

  bool moves_alone(const LoopAround& loop, size_t axis) const {
    for (size_t other = 0; other < region_.min.size(); ++other) {
      if (other != axis && uses_var(region_.min[other], loop.var)) return false;
    }
    return true;
  }

  bool is_in_clamps(const Step& step) const {
    return std::any_of(runs_.begin(), runs_.end(),
                       [&](const Expr& clamp) { return uses_var(clamp, step.loop->var); });
  }

  // Whether the clamps keep a prefix of the values of each variable of the axis, independent of the
  // variables of other axes.
  bool runs_in_order(size_t axis) const {
    return std::all_of(runs_.begin(), runs_.end(), [&](const Expr& clamp) {
      const auto* less = as<Binary>(clamp);
      if (less == nullptr || less->op != BinaryOp::Lt) return false;
      bool in_order = true, moves = false, moves_others = false;
      for (const arith::LinearTerm& term : arith::linear_sum(less->a - less->b, ranges_).terms) {
        if (!is_open(term.atom)) continue;
        in_order = in_order && as<Var>(term.atom) != nullptr && term.coefficient > 0;
        (uses_var(region_.min[axis], term.atom) ? moves : moves_others) = true;
      }
      return in_order && !(moves && moves_others);
    });
  }

  // Regions are ordered lexicographically by the variables. Consider the later regions in which
  // this variable is the first that differs. In the nearest such region, this variable is greater
  // by one and all later variables have their first values. If the nearest region is not computed,
  // no other is; if it does not contain the element, no other does.
  Expr is_in_later_region(size_t axis, const Progression& p) const {
    const Expr &index = indices_[axis], &min = region_.min[axis];
    Expr found = make_bool(false);
    for (size_t i = 0; i < p.regions.size(); ++i) {
      const Expr& var = p.regions[i].loop->var;
      Substitution next = p.first;
      next.emplace(var, var + 1);
      for (size_t j = i + 1; j < p.regions.size(); ++j) {
        next.emplace(p.regions[j].loop->var, make_int(0));
      }
      const Expr begin = substitute(min, next);
      Expr holds = var + 1 < make_int(p.regions[i].extent) && index >= begin &&
                   index < begin + make_int(p.width);
      for (const Expr& clamp : runs_) holds = holds && substitute(clamp, next);
      found = make_binary(BinaryOp::Or, found, arith::simplify(holds, ranges_));
    }
    return found;
  }

  const StageBounds& region_;
  const std::vector<LoopAround>& loops_;
  const arith::Ranges& ranges_;
  Exprs indices_;
  std::vector<const LoopAround*> open_;
  Exprs runs_;  // conditions under which the region is computed for a reader
};

}  // namespace

std::optional<Expr> stores_element(const StageBounds& region, const std::vector<LoopAround>& loops,
                                   const Exprs& places, const arith::Ranges& ranges) {
  return ElementOwner(region, loops, places, ranges).condition();
}

}  // namespace texloom::lower
