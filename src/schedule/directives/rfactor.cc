// rfactor: computes partial results along one axis of a reduction, in a separate stage.

#include <algorithm>
#include <unordered_set>

#include "ir/reducer.h"
#include "ir/visit.h"
#include "schedule/bounds/axis_values.h"
#include "schedule/derived_axes.h"
#include "schedule/schedule.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

namespace {

constexpr std::string_view kUse =
    "name a reduction axis of the stage: one of s[T].op.reduce_axis, or a part of one that split "
    "made";

using AxisSet = std::unordered_set<const IterVarNode*>;

// All axes related to the axis by splits and fusions: they become loops of the partial results
// together with this axis.
AxisSet connected(const Stage& stage, const IterVar& axis) {
  AxisSet found{axis.get()};
  for (size_t before = 0; before != found.size();) {
    before = found.size();
    for (const Relation& r : stage.relations) {
      std::vector<IterVar> axes = operands_of(r);
      const std::vector<IterVar> results = results_of(r);
      axes.insert(axes.end(), results.begin(), results.end());
      const bool touched = std::any_of(axes.begin(), axes.end(),
                                       [&](const IterVar& a) { return found.contains(a.get()); });
      if (!touched) continue;
      for (const IterVar& a : axes) found.insert(a.get());
    }
  }
  return found;
}

IterVar range_axis(const Expr& var, const Expr& extent, IterKind kind,
                   const SourceLocation& where) {
  return make_iter_var(var, make_int(0), extent, kind, where);
}

// The reduction of the stage with `axis` as one more data axis. The reduction still runs over the
// other loops that derive from the same reduction axis.
class PartialResults {
 public:
  PartialResults(const Schedule& schedule, const Stage& stage, const IterVar& axis,
                 const SourceLocation& where)
      : stage_(stage), axis_(axis), where_(where), touched_(connected(stage, axis)) {
    for (const IterVar& data : stage.op->axes) {
      extents_[data] = make_int(1);
      if (!touched_.contains(data.get())) continue;
      fail(where, Code::BadRfactor, "call rfactor before fusing axes of both kinds",
           "cannot rfactor '{}' along '{}': part of its reduction is fused with the data axis '{}'",
           stage.name(), axis->name(), data->name());
    }
    for (const IterVar& root : stage.op->reduce_axes) {
      extents_[root] = extents_of({root->extent}, root->name(), root->location).front();
    }
    add_derived_extents(schedule, stage, extents_);
  }

  const Expr& extent() const { return extents_.at(axis_); }

  Op operation(size_t position) const {
    const auto* reduce = as<Reduce>(stage_.op->body);
    AxisValues values;
    for (const IterVar& leaf : stage_.leaves) values[leaf] = leaf->var;
    Expr condition = reduce->condition;
    const auto require = [&](const Expr& e) { condition = condition ? condition && e : e; };
    Substitution roots;
    std::vector<IterVar> steps;  // whole axes precede loops derived from others
    add_values_above(stage_, extents_, values, [&](const IterVar& split, const Expr& inside) {
      if (touched_.contains(split.get())) require(inside);
    });
    for (const IterVar& root : reduce->axes) {
      if (touched_.contains(root.get())) {
        // A root that is still a leaf is the factor itself.
        roots.emplace(root->var, root->min + values.at(root));
      } else {
        steps.push_back(root);
      }
    }
    for (const IterVar& leaf : stage_.leaves) {
      if (leaf.same_as(axis_) || !touched_.contains(leaf.get())) continue;
      steps.push_back(range_axis(leaf->var, extents_.at(leaf), IterKind::Reduction, where_));
    }
    std::vector<IterVar> axes = stage_.op->axes;
    axes.insert(axes.begin() + static_cast<ptrdiff_t>(position),
                range_axis(axis_->var, extent(), IterKind::Data, where_));
    Exprs sources;
    for (const Expr& source : reduce->sources) sources.push_back(substitute(source, roots));
    if (condition) condition = substitute(condition, roots);
    const Expr body = steps.empty() ? of_one_step(*reduce, std::move(sources), condition)
                                    : make_reduce(reduce->reducer, std::move(sources), steps,
                                                  condition, {}, reduce->location);
    const Op& op = stage_.op;
    return make_compute(op->name + ".rf", op->tag, axes, body, op->location);
  }

 private:
  // The value of one step; the identity of the reducer if the condition excludes the step.
  static Expr of_one_step(const Reduce& reduce, Exprs values, const Expr& condition) {
    for (size_t i = 0; condition && i < values.size(); ++i) {
      values[i] = make_select(condition, values[i], reduce.reducer.identities[i]);
    }
    return values.size() == 1 ? values.front() : make_tuple(std::move(values), reduce.location);
  }

  const Stage& stage_;
  const IterVar& axis_;
  const SourceLocation& where_;
  AxisSet touched_;
  AxisExtents extents_;
};

}  // namespace

void Schedule::check_rfactor(const Stage& own, const IterVar& axis, int factor_axis,
                             const SourceLocation& where) const {
  if (own.op->reduce_axes.empty()) {
    fail(where, Code::BadRfactor, "call it on a tensor that te.sum or another reduction computes",
         "cannot rfactor '{}': it is not a reduction", own.name());
  }
  leaf_position(own, axis, where, "rfactor");
  if (axis->kind != IterKind::Reduction || comes_from_data(own, axis)) {
    fail(where, Code::BadRfactor, std::string(kUse),
         "cannot rfactor '{0}' along '{1}': '{1}' is not purely a reduction axis", own.name(),
         axis->name());
  }
  const auto rank = static_cast<int>(own.op->axes.size());
  if (factor_axis < -rank - 1 || factor_axis > rank) {
    fail(where, Code::BadRfactor,
         fmt::format("give a position from 0 to {}, or a negative one that counts from the end",
                     rank),
         "rfactor of '{}' puts the new axis at {}, but there are {} axes", own.name(), factor_axis,
         rank);
  }
}

std::vector<Tensor> Schedule::rfactor(const Tensor& tensor, const IterVar& axis, int factor_axis,
                                      const SourceLocation& where) {
  const StageId id = stage_of(tensor, where, "rfactor");
  const Stage& own = stage_for(id, where, "rfactor");
  check_rfactor(own, axis, factor_axis, where);
  const auto rank = static_cast<int>(own.op->axes.size());
  const auto position = static_cast<size_t>(factor_axis < 0 ? rank + 1 + factor_axis : factor_axis);
  const PartialResults parts(*this, own, axis, where);
  const Expr& count = parts.extent();
  const Op partial = parts.operation(position);

  const Op old = own.op;
  std::vector<IterVar> axes;
  Exprs indices;
  for (size_t i = 0; i < old->axes.size(); ++i) {
    axes.push_back(make_iter_var(make_var(fmt::format("ax{}", i), kInt32, where), make_int(0),
                                 old->axes[i]->extent, IterKind::Data, where));
    indices.push_back(axes.back()->var);
  }
  const IterVar step =
      range_axis(make_var(axis->name() + ".v", kInt32, where), count, IterKind::Reduction, where);
  indices.insert(indices.begin() + static_cast<ptrdiff_t>(position), step->var);
  const auto place = std::find(order_.begin(), order_.end(), id);
  join_step(add_stage(partial, static_cast<size_t>(place - order_.begin())));
  const std::vector<Tensor> factored = outputs_of(partial);
  Exprs sources;
  for (const Tensor& t : factored) sources.push_back(read(t, indices, where));
  const auto& whole = *as<Reduce>(old->body);
  // The initial values are combined only once, with the final results.
  Substitution renamed;
  for (size_t i = 0; i < axes.size(); ++i) renamed.emplace(old->axes[i]->var, axes[i]->var);
  Exprs init;
  for (const Expr& e : whole.init) init.push_back(substitute(e, renamed));
  replace_operation(id, make_compute(old->name + ".repl", old->tag, axes,
                                     make_reduce(substitute(whole.reducer, renamed),
                                                 std::move(sources), {step}, Expr(), init, where),
                                     old->location));
  return factored;
}

void Schedule::replace_operation(StageId id, Op op) {
  Stage& own = stage(id);
  own.op = std::move(op);
  own.reset_loops();
  by_operation_.emplace(own.op, id);
}

}  // namespace texloom::schedule
