#include "lower/barriers/group_of_blocks.h"

#include "ir/arith/simplify.h"
#include "schedule/attach.h"

namespace texloom::lower {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // the whole file also works on stages

GroupOfBlocks group_of_blocks(const Schedule& schedule, const Bounds& bounds, StageId id) {
  Expr groups = make_int(1), index = make_int(0), count = make_int(1);
  for (const LoopRef& ref : enclosing_loops(schedule, id)) {
    const LeafLoop& loop = bounds.of(ref.stage).loop_of(ref.leaf);
    groups = groups * loop.extent;
    index = index * loop.extent + loop.var;
  }
  for (const IterVar& leaf : leaves_over_blocks(schedule, id)) {
    count = count * bounds.of(id).loop_of(leaf).extent;
  }
  const Stage& stage = schedule.stage(id);
  const auto simple = [&](const Expr& e) { return arith::simplify(e, bounds.ranges); };
  return {
      make_counters(stage.name() + ".counters", simple(groups), stage.op->location), simple(index),
      simple(count),
      make_buffer(stage.name() + ".is_last", kInt32, {1}, MemoryScope::Shared, stage.op->location)};
}

}  // namespace texloom::lower
