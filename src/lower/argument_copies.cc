#include "lower/argument_copies.h"

#include <algorithm>

#include "ir/visit.h"
#include "schedule/attach.h"

namespace texloom::lower {

using namespace ir;        // the whole file speaks of IR nodes
using namespace schedule;  // and of a schedule's stages

namespace {

[[noreturn]] void refuse_overlap(const Stage& stage) {
  fail(stage.attachment.location, Code::BadArguments,
       "compute it at the root, or leave it out of the arguments",
       "the argument '{}' is computed inside a reader, of which several threads may compute one "
       "element, and it is not known which of them is to store it",
       stage.name());
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

Stmt copies_to_arguments(const Stage& stage, const StageBounds& bounds,
                         const std::vector<LoopAround>& loops, arith::Ranges ranges,
                         const ArgumentCopy& copy) {
  if (std::none_of(copy.to.begin(), copy.to.end(), [](const Buffer& to) { return to; })) {
    return make_empty();
  }
  const SourceLocation& where = stage.op->location;
  Exprs places, indices;
  for (size_t i = 0; i < bounds.min.size(); ++i) {
    places.push_back(make_var(stage.op->axes[i]->name()));
    ranges.enter(places.back(), bounds.extent[i]);
    indices.push_back(bounds.min[i] + bounds.strides[i].offset_of(places.back()));
  }
  const std::optional<Expr> is_owner = stores_element(bounds, loops, places, ranges);
  if (!is_owner) refuse_overlap(stage);
  Expr inside = *is_owner;
  // Regions are boxes, which may reach beyond the tensor.
  for (size_t i = 0; i < indices.size(); ++i) {
    inside = inside && indices[i] >= make_int(0) && indices[i] < stage.op->shape[i];
  }
  Stmts copies;
  for (size_t output = 0; output < copy.to.size(); ++output) {
    if (!copy.to[output]) continue;
    copies.push_back(
        make_store(copy.to[output], indices, make_load(copy.from[output], places, where), where));
  }
  Stmt body = make_if(inside, make_seq(std::move(copies)));
  for (size_t i = places.size(); i-- > 0;) {
    body = make_for(places[i], bounds.extent[i], LoopKind::Serial, std::move(body), where);
  }
  return body;
}

}  // namespace texloom::lower
