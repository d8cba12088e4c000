#include "lower/inline_stages.h"

#include <algorithm>

#include "ir/visit.h"

namespace texloom::lower {

using namespace ir;        // the whole file speaks of IR nodes
using namespace schedule;  // and of a schedule's stages
using schedule::Stage;     // not the pipeline's

namespace {

bool is_copy(const Operation& op) {
  const auto* read = op.is_compute() ? as<TensorRead>(op.body) : nullptr;
  return read != nullptr && std::equal(read->indices.begin(), read->indices.end(), op.axes.begin(),
                                       op.axes.end(), [](const Expr& index, const IterVar& axis) {
                                         return index.same_as(axis->var);
                                       });
}

bool is_read_by_extern(const Schedule& s, StageId id) {
  const auto reads = [&](StageId reader) {
    const Operation& op = *s.stage(reader).op;
    return op.is_extern() && std::any_of(op.inputs.begin(), op.inputs.end(),
                                         [&](const Tensor& t) { return s.producer(t) == id; });
  };
  return std::any_of(s.order().begin(), s.order().end(), reads);
}

// A stage's expression at given indices.
Expr expression_at(const Operation& op, const Exprs& indices) {
  Substitution values;
  for (size_t i = 0; i < indices.size(); ++i) values.emplace(op.axes[i]->var, indices[i]);
  return substitute(op.body, values);
}

}  // namespace

void check_outputs_at_root(const Schedule& s) {
  DiagnosticSink sink;
  for (const StageId id : s.order()) {
    const Stage& stage = s.stage(id);
    const Attachment& at = stage.attachment;
    if (!stage.is_output || stage.scan >= 0) continue;
    if (at.kind == AttachKind::At) {
      sink.error(at.location, Code::OutputAttached,
                 "attach the stages it reads; an output has loops of its own at the root",
                 "compute_at of '{}', an output of the schedule, inside '{}'", stage.name(),
                 s.stage(at.stage).name());
    } else if (at.kind == AttachKind::Inline) {
      sink.error(at.location, Code::OutputAttached, "inline the stages it reads instead",
                 "compute_inline of '{}', an output of the schedule", stage.name());
    }
  }
  sink.throw_if_errors();
}

void keep_at_root(Schedule& s) {
  const auto keep = [&](StageId id) {
    Attachment& at = s.stage(id).attachment;
    if (at.kind == AttachKind::Inline) at = {};
  };
  for (const StageId id : s.order()) {
    const Op op = s.stage(id).op;
    if (op->is_scan()) keep(id);
    if (!op->is_extern()) continue;
    keep(id);
    for (const Tensor& input : op->inputs) keep(s.producer(input));
  }
}

void drop_copies_of_textures(Schedule& s) {
  for (const StageId id : s.order()) {
    Stage& stage = s.stage(id);
    if (stage.is_output || stage.attachment.kind != AttachKind::Root || !is_copy(*stage.op)) {
      continue;
    }
    const Stage& source = s.stage(s.producer(as<TensorRead>(stage.op->body)->tensor));
    const bool same_place = source.op->is_placeholder() && source.scope && stage.scope &&
                            source.scope->texture && *source.scope == *stage.scope &&
                            source.layout == stage.layout && !source.transform && !stage.transform;
    if (same_place && !is_read_by_extern(s, id)) stage.attachment.kind = AttachKind::Inline;
  }
}

void inline_stages(Schedule& s) {
  for (const StageId id : s.order()) {
    if (!s.stage(id).op->is_compute()) continue;
    const Expr body = rewrite(s.stage(id).op->body, [&](const TensorRead& n, const Expr& self) {
      const Stage& source = s.stage(s.producer(n.tensor));
      if (source.attachment.kind != AttachKind::Inline) return self;
      if (source.op->types.size() > 1) {
        fail(source.attachment.location, Code::CannotInline,
             "leave it where it is, or compute each output by a te.compute of its own",
             "compute_inline of '{}', whose {} outputs are computed together", source.name(),
             source.op->types.size());
      }
      return expression_at(*source.op, n.indices);
    });
    if (!body.same_as(s.stage(id).op->body)) s.set_body(id, body);
  }
}

}  // namespace texloom::lower
