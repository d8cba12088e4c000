// The directives on storage: scopes and caches.

#include <algorithm>

#include "ir/visit.h"
#include "schedule/schedule.h"

namespace texloom::schedule {

using namespace ir;  // the whole file speaks of IR nodes

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

}  // namespace

void Schedule::put(Stage& stage, Storage storage, const SourceLocation& where) {
  stage.scope = storage.scope;
  stage.layout = std::move(storage.layout);
  stage.scope_location = where;
}

void Schedule::set_scope(StageId id, std::string_view scope, const SourceLocation& where,
                         std::string_view layout) {
  const Stage& own = stage(id);
  set_storage(id, parse_storage(scope, layout, own.op->shape, own.name(), where), where);
}

void Schedule::set_storage(StageId id, Storage storage, const SourceLocation& where) {
  Stage& own = stage(id);
  if (own.op->is_placeholder() && storage.scope.memory != MemoryScope::Global) {
    fail(where, Code::ScopeTooNarrow, "copy it there with cache_read",
         "the input '{}' lies in the caller's memory, not in {} memory", own.name(),
         to_string(storage.scope.memory));
  }
  put(own, std::move(storage), where);
}

Tensor Schedule::cache_read(const Tensor& tensor, std::string_view scope,
                            const std::vector<Op>& readers, const SourceLocation& where,
                            std::string_view layout) {
  Storage storage = parse_storage(scope, layout, tensor->shape, tensor->name, where);
  const StageId source = stage_of(tensor, where);
  const std::vector<StageId> actual = readers_of(source);
  std::vector<StageId> targets;
  for (const Op& reader : readers) {
    const auto id = find(reader);
    if (!id || std::find(actual.begin(), actual.end(), *id) == actual.end()) {
      std::string names;
      for (const StageId r : actual) names += (names.empty() ? "" : ", ") + stage(r).name();
      fail(where, Code::NotAReader,
           names.empty() ? std::string("nothing in this schedule reads it")
                         : fmt::format("name stages that read it: {}", names),
           "cache_read of '{}': '{}' does not read it", tensor->name, reader->name);
    }
    targets.push_back(*id);
  }
  if (targets.empty()) {
    fail(where, Code::NotAReader, "name at least one stage that reads the tensor",
         "cache_read of '{}' names no reader", tensor->name);
  }

  std::vector<IterVar> axes;
  for (size_t i = 0; i < tensor->shape.size(); ++i) {
    const auto axis = make_iter_var(make_var(fmt::format("ax{}", i), kInt32, where), make_int(0),
                                    tensor->shape[i], IterKind::Data, where);
    axes.push_back(axis);
  }
  const std::string name = fmt::format("{}.{}", tensor->name, to_string(storage.scope));
  const Op copy = make_compute(name, "", axes, read(tensor, vars_of(axes), where), where);
  const auto place = std::find(order_.begin(), order_.end(), source);
  const StageId id = add_stage(copy, static_cast<size_t>(place - order_.begin()) + 1);
  put(stage(id), std::move(storage), where);

  const Tensor cache = output_of(copy);
  for (const StageId target : targets) {
    const Expr body = rewrite(stage(target).op->body, [&](const TensorRead& n, const Expr& self) {
      if (producer(n.tensor) != source || n.tensor->output != tensor->output) return self;
      return make_tensor_read(cache, n.indices, n.location);
    });
    set_body(target, body);
  }
  return cache;
}

Tensor Schedule::cache_write(const Tensor& tensor, std::string_view scope,
                             const SourceLocation& where, std::string_view layout) {
  Storage storage = parse_storage(scope, layout, tensor->shape, tensor->name, where);
  const StageId id = stage_of(tensor, where);
  stage_for(id, where);
  if (!stage(id).relations.empty() || !stage(id).attributes.empty()) {
    fail(where, Code::BadCacheWrite, "call cache_write before any directive on the stage's loops",
         "cache_write of '{}', whose loops are scheduled already", tensor->name);
  }
  const Op old = stage(id).op;
  if (old->types.size() > 1) {
    fail(where, Code::BadCacheWrite, "set its scope, or compute each output by a te.compute",
         "cache_write of '{}', which has {} outputs", old->name, old->types.size());
  }
  std::vector<IterVar> axes;
  Substitution renamed;
  for (const IterVar& axis : old->axes) {
    axes.push_back(axis_like(axis, axis->name() + ".c", where));
    renamed.emplace(axis->var, axes.back()->var);
  }
  // The cache keeps the line of the compute: that is where its expression stands.
  const Op compute = make_compute(fmt::format("{}.{}", old->name, to_string(storage.scope)),
                                  old->tag, axes, substitute(old->body, renamed), old->location);
  const auto place = std::find(order_.begin(), order_.end(), id);
  const StageId cache_id = add_stage(compute, static_cast<size_t>(place - order_.begin()));
  put(stage(cache_id), std::move(storage), where);

  const Tensor cache = output_of(compute);
  set_body(id, read(cache, vars_of(old->axes), where));
  Stage& own = stage(id);
  own.leaves = own.op->axes;
  return cache;
}

}  // namespace texloom::schedule
