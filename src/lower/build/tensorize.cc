#include "lower/build/tensorize.h"

#include <algorithm>
#include <unordered_map>

#include "ir/accesses.h"
#include "ir/arith/simplify.h"
#include "ir/equal.h"
#include "ir/visit.h"
#include "lower/build/tensor_views.h"
#include "schedule/attach.h"
#include "schedule/bounds/axis_values.h"

namespace texloom::lower {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // the whole file also works on stages

namespace {

class Matcher {
 public:
  Matcher(const Schedule& s, StageId id, const Bounds& bounds, const StageAccess& access)
      : s_(s),
        stage_(s.stage(id)),
        own_(bounds.stages[static_cast<size_t>(id)]),
        access_(access),
        ranges_(bounds.ranges),
        at_(own_) {
    first_ = *tensorized_loop(stage_, own_);
    const AxisAttributes& attributes = *stage_.attributes_of(own_.loops[first_].axis);
    intrinsic_ = attributes.intrinsic;
    where_ = attributes.location;
  }

  TensorizedLoops loops() {
    check_loops();
    match_axes();
    match_result();
    match_body();
    values_ = values_of_views(*intrinsic_, parts_, ranges_,
                              [&](std::string help, const std::string& problem) {
                                differs(std::move(help), "{}", problem);
                              });
    const auto& [body, reset, update] = intrinsic_->statements;
    std::vector<Expr> guards = own_.guards;
    guards.insert(guards.end(), own_.reduction_guards.begin(), own_.reduction_guards.end());
    if (is_true(first_step_)) return {make_empty(), guarded(guards, placed(body))};
    if (!update) {
      differs("return body, reset and update from its function",
              "enclosing loops divide the reduction into steps, but the intrinsic has no update");
    }
    if (reset) {
      return {guarded(own_.guards, placed_start(reset)), guarded(guards, placed(update))};
    }
    return {make_empty(),
            guarded(guards, make_seq({make_if(first_step_, placed(body)),
                                      make_if(make_not(first_step_), placed(update))}))};
  }

 private:
  template <class... Args>
  [[noreturn]] void differs(std::string help, fmt::format_string<Args...> format,
                            Args&&... args) const {
    fail(where_, Code::TensorizeMismatch, std::move(help),
         "'{}' is tensorized at '{}' by the intrinsic '{}': {}", stage_.name(),
         own_.loops[first_].axis->name(), intrinsic_->name,
         fmt::format(format, std::forward<Args>(args)...));
  }

  const Operation& computation() const { return *intrinsic_->computation; }

  bool runs_inside(const Expr& e) const {
    return std::any_of(own_.loops.begin() + static_cast<ptrdiff_t>(first_), own_.loops.end(),
                       [&](const LeafLoop& l) { return uses_var(e, l.var); });
  }

  // -- The loops: all of them must be sequential, with nothing else inside.

  void check_loops() const {
    for (size_t i = first_; i < own_.loops.size(); ++i) {
      const LeafLoop& loop = own_.loops[i];
      const AxisAttributes* attributes = stage_.attributes_of(loop.axis);
      const bool plain = attributes == nullptr || is_sequential(attributes->loop);
      if (!plain) {
        differs("tensorize a loop inside of it", "the loop '{}' is bound to threads or vectorized",
                loop.axis->name());
      }
      if (int_value(loop.extent) == nullptr) {
        differs("split the axis by a constant", "the extent of the loop '{}' is not constant: {}",
                loop.axis->name(), to_string(loop.extent));
      }
    }
    check_attached();
    for (const auto* guards : {&own_.guards, &own_.reduction_guards}) {
      for (const Expr& guard : *guards) {
        if (!runs_inside(guard)) continue;
        differs("split the axes by factors that divide their extents",
                "its loops need the guard {}", to_string(guard));
      }
    }
    if (threads_share_reduction(s_, stage_.id)) {
      differs("make partial results with rfactor, and tensorize those",
              "threads share its reduction");
    }
  }

  // A stage that is attached at one of the loops from `first` on.
  const Stage* attached_from(std::vector<LeafLoop>::const_iterator first) const {
    for (const StageId other : s_.order()) {
      const Attachment& at = s_.stage(other).attachment;
      if (at.kind != AttachKind::At || at.stage != stage_.id) continue;
      const IterVar leaf = leaf_of(stage_, at.axis);
      const bool inside = std::any_of(first, own_.loops.end(),
                                      [&](const LeafLoop& l) { return l.axis.same_as(leaf); });
      if (inside) return &s_.stage(other);
    }
    return nullptr;
  }

  void check_attached() const {
    const Stage* other = attached_from(own_.loops.begin() + static_cast<ptrdiff_t>(first_));
    if (other == nullptr) return;
    differs("attach it to a loop further out", "'{}' is computed inside its loops", other->name());
  }

  // -- The index space: the enclosing loops decide where axes begin; the extents of the axes are
  // the intrinsic's.

  // An index, split into the part of the enclosing loops and the part of the inner loops.
  struct Split {
    Expr base, inner;
  };
  Split split(const Expr& index) const {
    Substitution still;
    for (size_t i = first_; i < own_.loops.size(); ++i) {
      still.emplace(own_.loops[i].var, make_int(0));
    }
    const Expr base = arith::simplify(substitute(index, still), ranges_);
    return {base, arith::simplify(index - base, ranges_)};
  }

  void match_axes() {
    const Operation& op = *stage_.op;
    int64_t points = 1;
    points *= match_axes(op.axes, computation().axes, "data");
    match_positions();
    points *= match_axes(op.reduce_axes, computation().reduce_axes, "reduction");
    int64_t turns = 1;
    for (size_t i = first_; i < own_.loops.size(); ++i) turns *= *int_value(own_.loops[i].extent);
    if (points == turns) return;
    differs("tensorize the outermost of the loops that make up the box",
            "its loops cover {} points of a box of {}", turns, points);
  }

  // Returns the number of points of all axes together.
  int64_t match_axes(const std::vector<IterVar>& all, const std::vector<IterVar>& wanted,
                     std::string_view kind) {
    if (all.size() < wanted.size()) {
      differs("tensorize a stage with the intrinsic's axes",
              "it has {} {} axes, but the intrinsic has {}", all.size(), kind, wanted.size());
    }
    int64_t points = 1;
    const size_t skipped = all.size() - wanted.size();
    for (size_t i = 0; i < all.size(); ++i) {
      const auto [base, inner] = split(own_.index.at(all[i]->var));
      const arith::Interval range = arith::bounds(inner, ranges_);
      const bool is_box = range.min == 0 && range.has_max() && !depends_on_outer(inner);
      const int64_t extent = is_box ? range.max + 1 : 0;
      const int64_t want = i < skipped ? 1 : *int_value(wanted[i - skipped]->extent);
      if (extent != want) {
        differs("split the axes so that the loops inside have the intrinsic's extents",
                "along '{}' its loops run over {}, but those of the intrinsic over {}",
                all[i]->name(), is_box ? fmt::format("{} indices", extent) : to_string(inner),
                want);
      }
      points *= extent;
      if (all[i]->kind == IterKind::Reduction) {
        const Expr begins = make_binary(BinaryOp::Eq, base, make_cast(base->type, all[i]->min));
        first_step_ = first_step_ && arith::simplify(begins, ranges_);
      }
      Expr index = base;
      if (i >= skipped) {
        const Expr& var = wanted[i - skipped]->var;
        ranges_.enter(var, wanted[i - skipped]->extent);
        index = base + make_cast(base->type, var);
        inner_.push_back({var, inner});  // data axes first
      }
      at_.index[all[i]->var] = index;
    }
    return points;
  }

  // Checks that the result is laid out like the index space.
  void match_positions() {
    const size_t skipped = own_.position.size() - inner_.size();
    for (size_t i = 0; i < own_.position.size(); ++i) {
      const auto [base, inner] = split(own_.position[i]);
      at_.position[i] = base;
      if (i < skipped) continue;
      const InnerAxis& axis = inner_[i - skipped];
      at_.position[i] = base + make_cast(base->type, axis.var);
      if (equal(inner, axis.loops)) continue;
      differs("keep the result in an array of all its elements",
              "along '{}' the elements of its result are not in the order of its indices",
              stage_.op->axes[i]->name());
    }
  }

  bool depends_on_outer(const Expr& inner) const {
    return any_of(inner, [&](const Var& v) {
      const auto same = [&](const LeafLoop& l) { return l.var.get() == &v; };
      return std::none_of(own_.loops.begin() + static_cast<ptrdiff_t>(first_), own_.loops.end(),
                          same);
    });
  }

  // -- The parts.

  // The part of `buffer` whose element at `indices`, in terms of the intrinsic's axes, is the
  // view's element at `view_indices`.
  ViewPart part_of(const Buffer& buffer, const Exprs& indices, const Exprs& view_indices) const {
    const BufferNode& b = *buffer;
    if (indices.size() < view_indices.size()) {
      differs("read a tensor of as many axes", "'{}' has {} axes, but the intrinsic's view has {}",
              b.name, indices.size(), view_indices.size());
    }
    const size_t skipped = indices.size() - view_indices.size();
    ViewPart part{buffer, {}};
    for (size_t i = 0; i < indices.size(); ++i) {
      Expr first = indices[i];
      if (i >= skipped) first = first - make_cast(first->type, view_indices[i - skipped]);
      part.first.push_back(arith::simplify(first, ranges_));
      const bool moves = std::any_of(inner_.begin(), inner_.end(), [&](const InnerAxis& axis) {
        return uses_var(part.first.back(), axis.var);
      });
      if (!moves) continue;
      differs("compute what the intrinsic computes, of elements laid out like its inputs",
              "axis {} of '{}' is accessed at {}, but the intrinsic's view at {}", i, b.name,
              to_string(arith::simplify(indices[i], ranges_)),
              i < skipped ? std::string("one index") : to_string(view_indices[i - skipped]));
    }
    return part;
  }

  void match_result() {
    const ResultElement result = access_.result(at_);
    Exprs axes;
    for (const IterVar& axis : computation().axes) axes.push_back(axis->var);
    if (result.buffers.size() != intrinsic_->outputs.size()) {
      differs("give each intrinsic its own stage", "it has {} outputs, but the intrinsic has {}",
              result.buffers.size(), intrinsic_->outputs.size());
    }
    for (size_t i = 0; i < result.buffers.size(); ++i) {
      add_part(intrinsic_->outputs[i], part_of(result.buffers[i], result.indices, axes));
    }
  }

  void add_part(const TensorView& view, ViewPart part) {
    if (part.buffer->type != view.buffer->type) {
      differs("convert the values in a separate stage",
              "'{}' holds {}, but the intrinsic's view '{}' holds {}", part.buffer->name,
              to_string(part.buffer->type), view.buffer->name, to_string(view.buffer->type));
    }
    const auto [known, added] = parts_.try_emplace(view.buffer.get(), part);
    const auto same = [](const Expr& a, const Expr& b) { return equal(a, b); };
    const bool agrees = added || (known->second.buffer.same_as(part.buffer) &&
                                  std::equal(known->second.first.begin(), known->second.first.end(),
                                             part.first.begin(), part.first.end(), same));
    if (agrees) return;
    differs("read one part of one tensor for each input of the intrinsic",
            "the intrinsic's input '{}' would be two different parts of tensors",
            view.buffer->name);
  }

  // -- The expression.

  struct Values {
    Exprs values;
    const Reduce* reduce;
  };
  static Values values_in(const Operation& op) {
    Values v{values_of(op.body), as<Reduce>(op.body)};
    if (v.reduce != nullptr && v.reduce->condition) v.values.push_back(v.reduce->condition);
    return v;
  }

  void match_body() {
    const Values own = values_in(*stage_.op), wanted = values_in(computation());
    const bool alike = (own.reduce == nullptr) == (wanted.reduce == nullptr) &&
                       own.values.size() == wanted.values.size();
    if (!alike || !same_reduction(own.reduce, wanted.reduce)) {
      differs("compute what the intrinsic computes",
              "it computes {}, but the intrinsic computes {}", to_string(stage_.op->body),
              to_string(computation().body));
    }
    for (size_t i = 0; i < own.values.size(); ++i) {
      match_value(own.values[i], wanted.values[i]);
    }
    for (const Expr& scalar : intrinsic_->scalars) {
      if (scalars_.contains(scalar)) continue;
      differs("compute what the intrinsic computes, with a number in the scalar's place",
              "it computes {}, which does not determine the scalar '{}' of the intrinsic's {}",
              to_string(stage_.op->body), to_string(scalar), to_string(computation().body));
    }
  }

  // Compares everything except the value that is reduced.
  static bool same_reduction(const Reduce* a, const Reduce* b) {
    if (a == nullptr) return true;
    if (!a->init.empty() || !a->condition != !b->condition) return false;
    const auto alone = [](const Reduce& r) {
      return make_reduce(r.reducer, r.reducer.identities, {}, {});
    };
    return equal(alone(*a), alone(*b));
  }

  // If both expressions are the same except for the values of scalars, their accesses are in the
  // same order.
  void match_value(const Expr& value, const Expr& wanted) {
    find_scalars(value, wanted);
    const Expr own = access_.read(value, at_);
    std::vector<const Load*> loads;
    walk(own, [&](const Load& n) { loads.push_back(&n); });
    const Expr meant = substitute(wanted, scalars_);
    std::vector<const TensorRead*> reads;  // null for a load of a scalar's value
    walk(
        meant, [&](const TensorRead& n) { reads.push_back(&n); },
        [&](const Load&) { reads.push_back(nullptr); });
    std::unordered_map<const Load*, Expr> read_at;
    if (loads.size() == reads.size()) {
      for (size_t i = 0; i < loads.size(); ++i) {
        if (reads[i] != nullptr) read_at.emplace(loads[i], Expr(reads[i]));
      }
    }
    const Expr renamed = rewrite_loads(own, read_at);
    if (loads.size() != reads.size() ||
        !equal(arith::simplify(renamed, ranges_), arith::simplify(meant, ranges_))) {
      differs("compute what the intrinsic computes",
              "it computes {}, but the intrinsic computes {}",
              to_string(arith::simplify(own, ranges_)), to_string(wanted));
    }
    for (size_t i = 0; i < loads.size(); ++i) {
      if (reads[i] == nullptr) continue;
      const std::vector<Tensor>& inputs = computation().inputs;
      const auto input = std::find_if(inputs.begin(), inputs.end(), [&](const Tensor& t) {
        return t->same_tensor(*reads[i]->tensor);
      });
      const TensorView& view = intrinsic_->inputs[static_cast<size_t>(input - inputs.begin())];
      add_part(view, part_of(loads[i]->buffer, loads[i]->indices, reads[i]->indices));
    }
  }

  // Takes the value of each scalar from its first occurrence. Searches the stage's own expression,
  // because the intrinsic's expression may have lost a scalar by constant folding if a loop runs
  // once. A later check verifies that the expressions are equal with this value at all occurrences.
  void find_scalars(const Expr& own, const Expr& wanted) {
    const auto& all = intrinsic_->scalars;
    const bool is_scalar =
        std::any_of(all.begin(), all.end(), [&](const Expr& s) { return s.same_as(wanted); });
    if (is_scalar && own->type == wanted->type) {
      const auto [known, added] = scalars_.try_emplace(wanted);
      if (!added) return;
      known->second = access_.read(own, at_);
      check_scalar(wanted, arith::simplify(known->second, ranges_));
      return;
    }
    Exprs parts;
    for_each_child(own, [&](const Expr& e) { parts.push_back(e); });
    Exprs wanted_parts;
    for_each_child(wanted, [&](const Expr& e) { wanted_parts.push_back(e); });
    if (own->kind != wanted->kind || parts.size() != wanted_parts.size()) return;
    for (size_t i = 0; i < parts.size(); ++i) find_scalars(parts[i], wanted_parts[i]);
  }

  void check_scalar(const Expr& scalar, const Expr& value) const {
    for (const InnerAxis& axis : inner_) {
      if (!uses_var(value, axis.var)) continue;
      differs("compute what the intrinsic computes, with one number in the scalar's place",
              "its scalar '{}' would be {}, which changes along the intrinsic's axis '{}'",
              to_string(scalar), to_string(value), to_string(axis.var));
    }
  }

  static Expr rewrite_loads(const Expr& e, const std::unordered_map<const Load*, Expr>& read_at) {
    if (const auto* n = as<Load>(e)) {
      const auto found = read_at.find(n);
      if (found != read_at.end()) return found->second;
    }
    return map_children(e, [&](const Expr& child) { return rewrite_loads(child, read_at); });
  }

  // -- The statements.

  Stmt placed(const Stmt& s) const {
    if (!s) return s;
    return with_scalars(substitute(with_parts(s, parts_, ranges_), values_));
  }

  // Computes each scalar once, in front of the loops that use it, unless its value is just a
  // variable.
  Stmt with_scalars(Stmt s) const {
    for (const Expr& scalar : intrinsic_->scalars) {
      if (!uses_var(s, scalar)) continue;
      const Expr value = arith::simplify(scalars_.at(scalar), ranges_);
      const bool computed = value->size > 1;
      const Expr known = computed ? make_var(as<Var>(scalar)->name, scalar->type) : value;
      s = substitute(s, {{scalar, known}});
      if (computed) s = make_let(known, value, s);
    }
    return s;
  }

  // Places the reset in front of the loops that divide the reduction into steps. The element that
  // is reset may also depend on a loop over data.
  Stmt placed_start(const Stmt& reset) const {
    const Stmt start = placed(reset);
    refuse_reads_of_steps(start);
    for (const LeafLoop& loop : own_.loops) {
      if (loop.axis->kind != IterKind::Reduction) continue;
      bool uses_step = !comes_from_data(stage_, loop.axis) && uses_var(start, loop.var);
      walk(
          start, [&](const Load& n) { uses_step = uses_step || uses_var(Expr(&n), loop.var); },
          [&](const Let& n) { uses_step = uses_step || uses_var(n.value, loop.var); });
      if (!uses_step) continue;
      differs("let the reset write the initial value of the result, and read nothing",
              "the reset uses a value that changes from step to step, along '{}'",
              loop.axis->name());
    }
    return start;
  }

  // Stages that are computed inside the loops over the steps have no values yet at the reset.
  void refuse_reads_of_steps(const Stmt& start) const {
    if (!any_access(start, [](const BufferAccess& n) { return n.reads(); })) return;
    const auto first = std::find_if(own_.loops.begin(), own_.loops.end(), [](const LeafLoop& loop) {
      return loop.axis->kind == IterKind::Reduction;
    });
    const Stage* other = attached_from(first);
    if (other == nullptr) return;
    differs("let the reset write the initial value of the result, and read nothing",
            "the reset reads memory, while '{}' is computed inside the loop '{}'", other->name(),
            leaf_of(stage_, other->attachment.axis)->name());
  }

  struct InnerAxis {
    Expr var;    // the variable of the intrinsic's axis
    Expr loops;  // the axis in terms of the variables of the loops
  };

  const Schedule& s_;
  const Stage& stage_;
  const StageBounds& own_;
  const StageAccess& access_;
  arith::Ranges ranges_;
  StageBounds at_;  // the stage's bounds over the intrinsic's axes, not over inner loops
  size_t first_ = 0;
  schedule::TensorIntrinsic intrinsic_;
  SourceLocation where_;
  // Holds in the first of the steps into which the enclosing loops divide the reduction.
  Expr first_step_ = make_bool(true);
  std::vector<InnerAxis> inner_;
  ViewParts parts_;
  Substitution values_;   // the values of strides and offsets
  Substitution scalars_;  // the values of scalars, over loop variables
};

}  // namespace

std::optional<size_t> tensorized_loop(const Stage& stage, const StageBounds& bounds) {
  for (size_t i = 0; i < bounds.loops.size(); ++i) {
    const AxisAttributes* attributes = stage.attributes_of(bounds.loops[i].axis);
    if (attributes != nullptr && attributes->intrinsic) return i;
  }
  return std::nullopt;
}

TensorizedLoops tensorized(const Schedule& schedule, StageId id, const Bounds& bounds,
                           const StageAccess& access) {
  return Matcher(schedule, id, bounds, access).loops();
}

}  // namespace texloom::lower
