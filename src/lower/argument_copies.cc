#include "lower/argument_copies.h"

#include <algorithm>

#include "ir/visit.h"
#include "schedule/attach.h"

namespace texloom::lower {

using namespace ir;        // the whole file speaks of IR nodes
using namespace schedule;  // and of a schedule's stages
using schedule::Stage;     // not the pipeline's

namespace {

bool depends_on(const StageBounds& bounds, const Expr& var) {
  const auto uses = [&](const Expr& e) { return uses_var(e, var); };
  return std::any_of(bounds.min.begin(), bounds.min.end(), uses) ||
         std::any_of(bounds.extent.begin(), bounds.extent.end(), uses);
}

}  // namespace

bool lies_in_array(const Schedule& schedule, const Stage& stage) {
  return stage.attachment.kind == AttachKind::Root ||
         (stage.attachment.kind == AttachKind::At &&
          scope_of(schedule, stage.id).memory == MemoryScope::Global);
}

void index_whole_arrays(const Lowering& lowering, Bounds& bounds) {
  for (const Argument& argument : lowering.arguments) {
    const auto id = lowering.schedule.find(operation_of(argument.tensor));
    if (!id || !lowering.schedule.stage(*id).op->is_compute()) continue;
    const Stage& stage = lowering.schedule.stage(*id);
    if (!lies_in_array(lowering.schedule, stage)) continue;
    StageBounds& own = bounds.stages[static_cast<size_t>(*id)];
    own.buffer_min.assign(own.min.size(), make_int(0));
    own.buffer_extent = extents_of(stage.op->shape, stage.name(), stage.op->location);
    for (size_t i = 0; i < own.position.size(); ++i) {
      own.position[i] = own.index.at(stage.op->axes[i]->var);
    }
  }
}

Stmt copies_to_arguments(const Stage& stage, const StageBounds& bounds, const Exprs& threads,
                         const std::vector<Buffer>& from, const std::vector<Buffer>& to) {
  const SourceLocation& where = stage.op->location;
  Exprs places, indices;
  Expr inside = make_bool(true);
  for (const Expr& thread : threads) {
    if (depends_on(bounds, thread)) continue;
    inside = inside && make_binary(BinaryOp::Eq, thread, make_int(0, thread->type));
  }
  for (size_t i = 0; i < bounds.min.size(); ++i) {
    places.push_back(make_var(stage.op->axes[i]->name()));
    indices.push_back(bounds.min[i] + bounds.strides[i].offset_of(places.back()));
    // Regions are boxes, which may reach beyond the tensor.
    inside = inside && indices.back() >= make_int(0) && indices.back() < stage.op->shape[i];
  }
  Stmts copies;
  for (size_t output = 0; output < to.size(); ++output) {
    if (!to[output]) continue;
    copies.push_back(
        make_store(to[output], indices, make_load(from[output], places, where), where));
  }
  if (copies.empty()) return make_empty();
  Stmt body = make_if(inside, make_seq(std::move(copies)));
  for (size_t i = places.size(); i-- > 0;) {
    body = make_for(places[i], bounds.extent[i], LoopKind::Serial, std::move(body), where);
  }
  return body;
}

}  // namespace texloom::lower
