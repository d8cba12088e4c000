#include "schedule/print.h"

#include "ir/program.h"
#include "schedule/attach.h"
#include "support/check.h"

namespace texloom::schedule {

using namespace ir;  // the whole file speaks of IR nodes

namespace {

std::string axis_list(const std::vector<IterVar>& axes) {
  std::string text;
  for (const IterVar& axis : axes) text += (text.empty() ? "" : ", ") + axis->name();
  return text;
}

std::string relation_text(const Relation& r) {
  if (const auto* fuse = std::get_if<FuseRelation>(&r)) {
    return fmt::format("fuse {}, {} -> {}", fuse->outer->name(), fuse->inner->name(),
                       fuse->fused->name());
  }
  const auto& s = std::get<SplitRelation>(r);
  const bool by_factor = s.factor > 0;
  return fmt::format("split {} {}={} -> {}, {}", s.parent->name(), by_factor ? "factor" : "nparts",
                     by_factor ? s.factor : s.nparts, s.outer->name(), s.inner->name());
}

std::string leaf_text(const Stage& stage, const IterVar& leaf) {
  const AxisAttributes* attributes = stage.attributes_of(leaf);
  if (attributes == nullptr) return leaf->name();
  switch (attributes->loop) {
    case LoopKind::Serial:
      return leaf->name();
    case LoopKind::Unrolled:
      return "unrolled " + leaf->name();
    case LoopKind::Vectorized:
      return "vectorized " + leaf->name();
    case LoopKind::Thread:
      return fmt::format("{} = {}", leaf->name(), ir::to_string(attributes->thread->tag));
  }
  TL_UNREACHABLE();
}

std::string place_text(const Schedule& schedule, const Stage& stage) {
  switch (stage.attachment.kind) {
    case AttachKind::Root:
      return "root";
    case AttachKind::Inline:
      return "inline";
    case AttachKind::At:
      return fmt::format("at {}, {}", schedule.stage(stage.attachment.stage).name(),
                         stage.attachment.axis->name());
  }
  TL_UNREACHABLE();
}

std::string stage_text(const Schedule& schedule, const Stage& stage) {
  const Operation& op = *stage.op;
  std::string shape;
  for (const Expr& extent : op.shape) shape += (shape.empty() ? "" : ", ") + ir::to_string(extent);
  const std::string type = fmt::format("{}[{}]", ir::to_string(op.type), shape);
  if (op.is_placeholder()) return fmt::format("placeholder {}: {}\n", op.name, type);
  std::string scope = ir::to_string(scope_of(schedule, stage.id));
  if (stage.layout) scope += " as " + ir::to_string(*stage.layout);
  std::string text =
      fmt::format("stage {}: {} in {}, {}\n  {}({}) = {}\n", op.name, type, scope,
                  place_text(schedule, stage), op.name, axis_list(op.axes), ir::to_string(op.body));
  if (stage.transform) text += "  transform " + ir::to_string(stage.transform->map) + "\n";
  for (const Relation& r : stage.relations) text += "  " + relation_text(r) + "\n";
  std::string loops;
  for (const IterVar& leaf : stage.leaves)
    loops += (loops.empty() ? "" : "; ") + leaf_text(stage, leaf);
  return text + fmt::format("  loops {}\n", loops);
}

}  // namespace

std::string to_string(const Schedule& schedule) {
  std::string text;
  for (const StageId id : schedule.order()) text += stage_text(schedule, schedule.stage(id));
  return text;
}

}  // namespace texloom::schedule
