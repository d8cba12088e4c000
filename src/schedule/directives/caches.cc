// The directives on storage: scopes and caches.

#include <algorithm>
#include <limits>

#include "ir/visit.h"
#include "schedule/bounds/axis_values.h"
#include "schedule/derived_axes.h"
#include "schedule/operation/extern_operation.h"
#include "schedule/schedule.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

namespace {

// A data axis of the same domain.
IterVar axis_like(const IterVar& axis, const std::string& name, const SourceLocation& where) {
  return make_iter_var(make_var(name, kInt32, where), axis->min, axis->extent, IterKind::Data,
                       where);
}

Exprs vars_of(const std::vector<IterVar>& axes) {
  Exprs vars;
  for (const IterVar& axis : axes) vars.push_back(axis->var);
  return vars;
}

// The body of a compute with these values.
Expr of_outputs(Exprs values, const SourceLocation& where) {
  return values.size() == 1 ? values.front() : make_tuple(std::move(values), where);
}

// The cache of a stage: its axes, its body, and the indices by which the stage reads it.
struct CacheAxes {
  std::vector<IterVar> axes;
  Expr body;
  Exprs places;
};

bool has_own_axes(const Stage& stage) {
  const std::vector<IterVar>& axes = stage.op->axes;
  if (!stage.relations.empty() || stage.leaves.size() < axes.size()) return false;
  return std::equal(axes.begin(), axes.end(), stage.leaves.begin(), RefSame()) &&
         unit_axes(stage).empty();
}

// One axis for each data loop. Points that a split adds past the end of its axis take no part in a
// reduction. A compute without a reduction stores zero at these points, and nothing reads it.
CacheAxes axes_of_loops(const Schedule& schedule, const Stage& stage, const SourceLocation& where) {
  AxisExtents extents;
  AxisValues inside, places;
  for (const auto* roots : {&stage.op->axes, &stage.op->reduce_axes}) {
    for (const IterVar& root : *roots) {
      extents[root] = extents_of({root->extent}, root->name(), root->location).front();
      places[root] = root->var;
    }
  }
  add_derived_extents(schedule, stage, extents);
  add_values_below(stage, extents, places);
  CacheAxes result;
  for (const IterVar& leaf : stage.leaves) {
    inside[leaf] = leaf->var;
    if (leaf->kind != IterKind::Data) {
      if (!comes_from_data(stage, leaf)) continue;
      fail(where, Code::BadCacheWrite, "call cache_write before fusing axes of both kinds",
           "cannot apply cache_write to '{}': its loop '{}' is over both data and the reduction",
           stage.name(), leaf->name());
    }
    const Expr var = make_var(leaf->name() + ".c", kInt32, where);
    result.axes.push_back(make_iter_var(var, make_int(0), extents.at(leaf), IterKind::Data, where));
    inside[leaf] = var;
    result.places.push_back(places.at(leaf));
  }
  Expr condition;
  add_values_above(stage, extents, inside, [&](const IterVar& split, const Expr& holds) {
    if (split->kind == IterKind::Data) condition = condition ? condition && holds : holds;
  });
  Substitution own_axes;
  for (const IterVar& axis : stage.op->axes) own_axes.emplace(axis->var, inside.at(axis));
  result.body = substitute(stage.op->body, own_axes);
  if (!condition) return result;
  if (const auto* n = as<Reduce>(result.body)) {
    const Expr both = n->condition ? condition && n->condition : condition;
    result.body = make_reduce(n->reducer, n->sources, n->axes, both, n->init, n->location);
    return result;
  }
  Exprs values = values_of(result.body);
  for (Expr& value : values) value = make_select(condition, value, make_const(0, value->type));
  result.body = of_outputs(std::move(values), where);
  return result;
}

CacheAxes cache_axes(const Schedule& schedule, const Stage& stage, const SourceLocation& where) {
  if (!has_own_axes(stage)) return axes_of_loops(schedule, stage, where);
  CacheAxes result;
  Substitution renamed;
  for (const IterVar& axis : stage.op->axes) {
    result.axes.push_back(axis_like(axis, axis->name() + ".c", where));
    renamed.emplace(axis->var, result.axes.back()->var);
  }
  result.body = substitute(stage.op->body, renamed);
  result.places = vars_of(stage.op->axes);
  return result;
}

// A.shared or, if that is taken, A.d.shared, A.d.d.shared, ...
std::string cache_name(const Schedule& schedule, const TensorNode& tensor,
                       const StorageScope& scope) {
  const auto is_taken = [&](const std::string& name) {
    const std::vector<StageId>& all = schedule.order();
    return std::any_of(all.begin(), all.end(),
                       [&](StageId id) { return schedule.stage(id).name() == name; });
  };
  std::string stem = tensor.name, name;
  while (is_taken(name = fmt::format("{}.{}", stem, to_string(scope)))) stem += ".d";
  return name;
}

}  // namespace

void Schedule::put(Stage& stage, Storage storage, const SourceLocation& where) {
  stage.scope = storage.scope;
  stage.layout = std::move(storage.layout);
  stage.scope_location = where;
}

void Schedule::set_scope(StageId id, std::string_view scope, const SourceLocation& where,
                         std::string_view layout) {
  Stage& own = stage(id);
  if (scope.empty() && layout.empty()) {
    refuse_part_of_scan(own, "set_scope", where);
    own.scope.reset();
    own.layout.reset();
    own.scope_location = {};
    return;
  }
  set_storage(id, parse_storage(scope, layout, own.op->shape, own.name(), "set_scope", where),
              where);
}

void Schedule::set_storage(StageId id, Storage storage, const SourceLocation& where) {
  Stage& own = stage(id);
  if (own.op->is_placeholder() && storage.scope.memory != MemoryScope::Global) {
    fail(where, Code::ScopeTooNarrow, "copy it there with cache_read",
         "cannot put the input '{}' in {} memory: it is in the caller's memory", own.name(),
         to_string(storage.scope.memory));
  }
  refuse_part_of_scan(own, "set_scope", where);
  put(own, std::move(storage), where);
}

void Schedule::storage_align(StageId id, const IterVar& axis, int64_t factor, int64_t offset,
                             const SourceLocation& where) {
  Stage& own = stage_for(id, where, "storage_align");
  refuse_part_of_scan(own, "storage_align", where);
  const auto is_axis = [&](const IterVar& other) { return other.same_as(axis); };
  if (std::none_of(own.op->axes.begin(), own.op->axes.end(), is_axis)) {
    fail(where, Code::ForeignAxis, "name one of s[T].op.axis, as they are before any split",
         "storage_align on the stage of '{}': '{}' is not a data axis of its tensor", own.name(),
         axis->name());
  }
  constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
  if (factor < 1 || offset < 0 || factor > kLargest || offset > kLargest) {
    fail(where, Code::BadAlignment,
         "give a positive factor and an offset of at least 0, both below 2^31",
         "cannot apply storage_align to '{}' of '{}' with the factor {} and the offset {}",
         axis->name(), own.name(), factor, offset);
  }
  std::erase_if(own.alignments, [&](const Alignment& a) { return is_axis(a.axis); });
  own.alignments.push_back({axis, factor, offset, where});
}

void Schedule::double_buffer(StageId id, const SourceLocation& where) {
  Stage& own = stage_for(id, where, "double_buffer");
  if (own.is_output) {
    fail(where, Code::BadDoubleBuffer, "call it on a cache that is attached to a loop",
         "cannot apply double_buffer to '{}': it is an output of the schedule", own.name());
  }
  if (own.pipeline) {
    fail(where, Code::BadDoubleBuffer, "leave out double_buffer or pipeline",
         "cannot apply double_buffer to '{}': pipeline gives it as many buffers as it needs",
         own.name());
  }
  own.double_buffered = true;
  own.double_buffer_location = where;
}

Tensor Schedule::cache_read(const Tensor& tensor, std::string_view scope,
                            const std::vector<Op>& readers, const SourceLocation& where,
                            std::string_view layout) {
  Storage storage = parse_storage(scope, layout, tensor->shape, tensor->name, "cache_read", where);
  const StageId source = stage_of(tensor, where, "cache_read");
  const std::vector<StageId> actual = readers_of(source);
  std::string names;
  for (const StageId r : actual) names += (names.empty() ? "" : ", ") + stage(r).name();
  const std::string help = names.empty() ? "no stage reads it; cache its inputs instead"
                                         : fmt::format("name stages that read it: {}", names);
  std::vector<StageId> targets;
  for (const Op& reader : readers) {
    const auto id = find(reader);
    if (!id || std::find(actual.begin(), actual.end(), *id) == actual.end()) {
      fail(where, Code::NotAReader, help, "cache_read of '{}': '{}' does not read it", tensor->name,
           reader->name);
    }
    refuse_scan(stage(*id), "cache_read for its own stage", where);
    targets.push_back(*id);
  }
  if (targets.empty()) {
    fail(where, Code::NotAReader, help, "cache_read of '{}' was given no readers", tensor->name);
  }

  std::vector<IterVar> axes;
  for (size_t i = 0; i < tensor->shape.size(); ++i) {
    const auto axis = make_iter_var(make_var(fmt::format("ax{}", i), kInt32, where), make_int(0),
                                    tensor->shape[i], IterKind::Data, where);
    axes.push_back(axis);
  }
  const Op copy = make_compute(cache_name(*this, *tensor, storage.scope), "", axes,
                               read(tensor, vars_of(axes), where), where);
  const auto place = std::find(order_.begin(), order_.end(), source);
  const StageId id = add_stage(copy, static_cast<size_t>(place - order_.begin()) + 1);
  put(stage(id), std::move(storage), where);

  join_step(id);
  const Tensor cache = output_of(copy);
  for (const StageId target : targets) redirect(target, tensor, cache);
  return cache;
}

void Schedule::redirect(StageId id, const Tensor& from, const Tensor& to) {
  const StageId source = producer(from);
  const auto redirected = [&](const Tensor& t) {
    return producer(t) == source && t->output == from->output ? to : t;
  };
  const Op op = stage(id).op;
  if (op->is_extern()) {
    std::vector<Tensor> tensors;
    for (const ExternInput& input : op->reads) tensors.push_back(redirected(input.tensor));
    replace_operation(id, with_inputs(*op, std::move(tensors)));
    return;
  }
  set_body(id, rewrite(op->body, [&](const TensorRead& n, const Expr&) {
             return make_tensor_read(redirected(n.tensor), n.indices, n.location);
           }));
}

Tensor Schedule::cache_write(const Tensor& tensor, std::string_view scope,
                             const SourceLocation& where, std::string_view layout) {
  const StageId id = stage_of(tensor, where, "cache_write");
  stage_for(id, where, "cache_write");
  const Op old = stage(id).op;
  if (old->is_extern()) {
    fail(where, Code::BadCacheWrite, "let the statement write to memory that it allocates",
         "cannot apply cache_write to '{}': a statement writes it", old->name);
  }
  refuse_scan(stage(id), "cache_write", where);
  const CacheAxes loops = cache_axes(*this, stage(id), where);
  Exprs shape;
  for (const IterVar& axis : loops.axes) shape.push_back(axis->extent);
  Storage storage = parse_storage(scope, layout, shape, old->name, "cache_write", where);
  // The cache takes the location of the original compute, which contains the expression.
  const Op compute = make_compute(fmt::format("{}.{}", old->name, to_string(storage.scope)),
                                  old->tag, loops.axes, loops.body, old->location);
  const auto place = std::find(order_.begin(), order_.end(), id);
  const StageId cache_id = add_stage(compute, static_cast<size_t>(place - order_.begin()));
  put(stage(cache_id), std::move(storage), where);
  join_step(cache_id);

  Exprs copied;
  for (const Tensor& cache : outputs_of(compute))
    copied.push_back(read(cache, loops.places, where));
  stage(id).relations.clear();  // the new body has other axes
  set_body(id, of_outputs(std::move(copied), where));
  stage(id).reset_loops();
  return output_of(compute, static_cast<size_t>(tensor->output));
}

}  // namespace texloom::schedule
