#include "lower/build/argument_copies.h"

#include <algorithm>

#include "ir/equal.h"
#include "ir/visit.h"
#include "lower/build/store_once.h"
#include "schedule/attach.h"

namespace texloom::lower {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // the whole file also works on stages

namespace {

[[noreturn]] void refuse_overlap(const Stage& stage) {
  fail(stage.attachment.location, Code::BadArguments,
       "compute it at the root, or leave it out of the arguments",
       "the argument '{}' is computed inside a reader; several threads may compute one element of "
       "it, and it is not known which of them should store it",
       stage.name());
}

std::vector<LoopAround> loops_around(const Schedule& schedule, const Bounds& bounds, StageId id) {
  std::vector<LoopAround> around;
  const LoopPath path = enclosing_loops(schedule, id);
  for (auto ref = path.begin(); ref != path.end(); ++ref) {
    const LeafLoop& loop = bounds.of(ref->stage).loop_of(ref->leaf);
    const IterVar thread = thread_of(schedule, *ref);
    // If several loops run over one thread index, only the innermost distributes its iterations
    // over threads: all threads together run each iteration of the outer loops.
    const bool again = thread && std::any_of(ref + 1, path.end(), [&](const LoopRef& inner) {
                         const IterVar other = thread_of(schedule, inner);
                         return other && is_one_thread_axis(thread, other);
                       });
    const bool ends_early = again || !equal(loop.end, loop.extent);
    around.push_back({loop.var, loop.extent, thread && !again, ends_early});
  }
  return around;
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
    StageBounds& own = bounds.of(*id);
    own.buffer_min.assign(own.min.size(), make_int(0));
    own.buffer_extent = extents_of(stage.op->shape, stage.name(), stage.op->location);
    for (size_t i = 0; i < own.position.size(); ++i) {
      own.position[i] = own.index.at(stage.op->axes[i]->var);
    }
  }
}

Stmt copies_to_arguments(const Schedule& schedule, const Bounds& bounds, StageId id,
                         const std::vector<Buffer>& from, const std::vector<Buffer>& to) {
  if (std::none_of(to.begin(), to.end(), [](const Buffer& param) { return param; })) {
    return make_empty();
  }
  const Stage& stage = schedule.stage(id);
  const StageBounds& region = bounds.of(id);
  const SourceLocation& where = stage.op->location;
  arith::Ranges ranges = bounds.ranges;
  Exprs places, indices;
  for (size_t i = 0; i < region.min.size(); ++i) {
    places.push_back(make_var(stage.op->axes[i]->name()));
    ranges.enter(places.back(), region.extent[i]);
    indices.push_back(region.min[i] + region.strides[i].offset_of(places.back()));
  }
  const std::vector<LoopAround> loops = loops_around(schedule, bounds, id);
  const std::optional<Expr> is_owner = stores_element(region, loops, places, ranges);
  if (!is_owner) refuse_overlap(stage);
  Expr inside = *is_owner;
  // Regions are boxes and may extend beyond the tensor.
  for (size_t i = 0; i < indices.size(); ++i) {
    inside = inside && indices[i] >= make_int(0) && indices[i] < stage.op->shape[i];
  }
  Stmts copies;
  for (size_t output = 0; output < to.size(); ++output) {
    if (!to[output]) continue;
    copies.push_back(
        make_store(to[output], indices, make_load(from[output], places, where), where));
  }
  Stmt body = make_if(inside, make_seq(std::move(copies)));
  for (size_t i = places.size(); i-- > 0;) {
    body = make_for(places[i], region.extent[i], LoopKind::Serial, std::move(body), where);
  }
  return body;
}

}  // namespace texloom::lower
