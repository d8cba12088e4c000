#include "lower/schedule/inline_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/visit.h"

namespace texloom::lower {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // the whole file also works on stages

namespace {

constexpr size_t kNamedStages = 3;  // the most stages that one message names

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

// The expression of a stage at these indices.
Expr expression_at(const Operation& op, const Exprs& indices) {
  Substitution values;
  for (size_t i = 0; i < indices.size(); ++i) values.emplace(op.axes[i]->var, indices[i]);
  return substitute(op.body, values);
}

std::string_view name_of(const AxisAttributes& attributes) {
  return attributes.intrinsic ? "tensorize" : directive_for(attributes.loop);
}

// For each stage, the inlined stages that it reads itself.
using InlinedReads = std::map<StageId, std::vector<StageId>>;

// All inlined stages whose expressions are part of the reader's expression, each once.
std::vector<StageId> inlined_in(const InlinedReads& reads, StageId reader) {
  std::vector<StageId> found;
  const auto visit = [&](const auto& self, StageId id) -> void {
    const auto own = reads.find(id);
    if (own == reads.end()) return;
    for (const StageId source : own->second) {
      if (std::find(found.begin(), found.end(), source) != found.end()) continue;
      self(self, source);
      found.push_back(source);
    }
  };
  visit(visit, reader);
  return found;
}

// Refuses the body of a reader that inlining made too large. The help names the inlined stage whose
// size is closest to the square root of the limit. If that stage is not inlined, it divides a chain
// of stages, each of which is read several times, into two small parts.
void check_inlined_size(const Schedule& s, const InlinedReads& reads, StageId reader,
                        const Expr& body) {
  if (body->size <= kMaxSize) return;
  const auto distance = [&](StageId id) {
    return std::abs(std::log(s.stage(id).op->body->size) - std::log(kMaxSize) / 2);
  };
  const std::vector<StageId> inlined = inlined_in(reads, reader);
  const Stage& middle =
      s.stage(*std::min_element(inlined.begin(), inlined.end(),
                                [&](StageId a, StageId b) { return distance(a) < distance(b); }));
  std::string names;
  const size_t named = std::min(inlined.size(), kNamedStages);
  for (size_t i = 0; i < named; ++i) {
    names += fmt::format("{}'{}'", i == 0 ? "" : ", ", s.stage(inlined[i]).name());
  }
  if (named < inlined.size()) names += fmt::format(" and {} more", inlined.size() - named);
  const SourceLocation& where = middle.attachment.location;
  fail(where.known() ? where : middle.op->location, Code::ProgramTooLarge,
       fmt::format("do not inline '{}': attach it with compute_at", middle.name()),
       "the expression of '{}' has more than {} parts with {} inlined", s.stage(reader).name(),
       kMaxSize, names);
}

struct LostDirective {
  std::string_view name;
  IterVar axis;
  SourceLocation location;
};

// The first directive on a loop, outermost first. Splits and fusions do not record their lines, so
// they are reported at the line of compute_inline.
std::optional<LostDirective> lost_directive(const Stage& stage) {
  for (const IterVar& leaf : stage.leaves) {
    const AxisAttributes* own = stage.attributes_of(leaf);
    if (own != nullptr) return LostDirective{name_of(*own), leaf, own->location};
  }
  for (const Pragma& p : stage.pragmas) {
    if (!Pragma::is_foreign_text(p.key)) return LostDirective{"pragma", p.axis, p.location};
  }
  if (stage.relations.empty()) return std::nullopt;
  const Relation& last = stage.relations.back();
  if (const auto* split = std::get_if<SplitRelation>(&last)) {
    return LostDirective{"split", split->parent, stage.attachment.location};
  }
  return LostDirective{"fuse", std::get<FuseRelation>(last).outer, stage.attachment.location};
}

}  // namespace

void warn_of_lost_directives(Lowering& lowering) {
  const Schedule& s = lowering.schedule;
  for (const StageId id : s.order()) {
    const Stage& stage = s.stage(id);
    if (stage.attachment.kind != AttachKind::Inline) continue;
    const std::optional<LostDirective> lost = lost_directive(stage);
    if (!lost) continue;
    lowering.warnings.push_back(
        {Severity::Warning,
         Code::AnnotationIgnored,
         lost->location,
         fmt::format("{} of '{}' has no effect: '{}' is inlined, and has no loops of its own",
                     lost->name, lost->axis->name(), stage.name()),
         "schedule the loops of its readers, or leave compute_inline out",
         {}});
  }
}

void check_outputs_at_root(Lowering& lowering) {
  const Schedule& s = lowering.schedule;
  DiagnosticSink sink;
  for (const StageId id : s.order()) {
    const Stage& stage = s.stage(id);
    const Attachment& at = stage.attachment;
    if (!stage.is_output || stage.scan >= 0) continue;
    if (at.kind == AttachKind::At) {
      sink.error(at.location, Code::OutputAttached,
                 "attach the stages it reads; an output needs its own loops at the root",
                 "'{}' cannot be computed inside '{}': it is an output of the schedule",
                 stage.name(), s.stage(at.stage).name());
    } else if (at.kind == AttachKind::Inline) {
      sink.error(at.location, Code::OutputAttached, "inline the stages it reads instead",
                 "cannot inline '{}': it is an output of the schedule", stage.name());
    }
  }
  sink.throw_if_errors();
}

void keep_at_root(Lowering& lowering) {
  Schedule& s = lowering.schedule;
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

void drop_copies_of_textures(Lowering& lowering) {
  Schedule& s = lowering.schedule;
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

void inline_stages(Lowering& lowering) {
  Schedule& s = lowering.schedule;
  InlinedReads inlined;
  for (const StageId id : s.order()) {
    if (!s.stage(id).op->is_compute()) continue;
    const Expr body = rewrite(s.stage(id).op->body, [&](const TensorRead& n, const Expr& self) {
      const StageId producer = s.producer(n.tensor);
      const Stage& source = s.stage(producer);
      if (source.attachment.kind != AttachKind::Inline) return self;
      if (source.op->types.size() > 1) {
        fail(source.attachment.location, Code::CannotInline,
             "leave it at the root, or compute each output by a te.compute of its own",
             "cannot inline '{}': its {} outputs are computed together", source.name(),
             source.op->types.size());
      }
      inlined[id].push_back(producer);
      return expression_at(*source.op, n.indices);
    });
    if (body.same_as(s.stage(id).op->body)) continue;
    check_inlined_size(s, inlined, id, body);
    s.set_body(id, body);
  }
}

}  // namespace texloom::lower
