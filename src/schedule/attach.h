// Finds the loops around each stage, which follow from its attachment.
#pragma once

#include <vector>

#include "schedule/schedule.h"

namespace texloom::schedule {

struct LoopRef {
  StageId stage;
  ir::IterVar leaf;

  bool operator==(const LoopRef& other) const {
    return stage == other.stage && leaf.same_as(other.leaf);
  }
};
using LoopPath = std::vector<LoopRef>;

// The loops that enclose the stage's own, outermost first: the loops around the stage that it is
// attached to, then the loops of that stage down to the attachment loop. Empty for a root stage. If
// the attachment loop was split later, its inner part counts; if it was the inner of two fused
// loops, the fused loop counts. Fails with AttachCycle or AttachNotFound.
LoopPath enclosing_loops(const Schedule& schedule, StageId id);

// The enclosing loops, then the stage's own.
LoopPath all_loops(const Schedule& schedule, StageId id);

// Fails with AttachNotFound unless the loops around an attached stage also enclose the reader.
void check_encloses(const Schedule& schedule, StageId attached, StageId reader);

// The leaf that an axis of the stage has become.
ir::IterVar leaf_of(const Stage& stage, ir::IterVar axis);

// Whether both axes are one index of a kernel: thread axes of the same tag, or the same axis of
// virtual threads.
bool is_one_thread_axis(const ir::IterVar& a, const ir::IterVar& b);

// Whether all threads along this axis, real or virtual, share a buffer in this memory scope.
bool share_buffer(ir::MemoryScope memory, const ir::IterVar& thread);

// The thread axis that runs the iterations of a loop; null for a serial loop. A data loop that is
// bound to threads counts as serial if the stage's buffer is private to each thread: then each
// thread runs all iterations.
ir::IterVar thread_of(const Schedule& schedule, const LoopRef& loop);

// The thread axes whose threads share the iterations of the stage's reduction axes.
std::vector<ir::IterVar> reduction_threads(const Schedule& schedule, StageId id);
bool threads_share_reduction(const Schedule& schedule, StageId id);

// Whether blocks share out the values of an attached stage: it is in global memory by its
// set_scope, is computed inside of a loop over blocks, and binds an axis to a blockIdx that no loop
// around it has. The blocks that differ only in that index each compute a part; the last of them to
// come to the end runs what follows inside of the loop.
bool is_divided_among_blocks(const Schedule& schedule, StageId id);
// The leaves of such a stage that are bound to blocks.
std::vector<ir::IterVar> leaves_over_blocks(const Schedule& schedule, StageId id);

// Whether any loop is bound to threads. If none is, the outermost parallel loops become the grid.
bool binds_threads(const Schedule& schedule);

// The scope that the user set, or else the one inferred from the enclosing loops: `local` inside
// threadIdx or virtual threads, `shared` inside blockIdx only, or inside a parallel loop of a
// schedule that binds no threads, which becomes blockIdx; otherwise `global`. A reduction that
// threads share inside a loop over the same threads is `shared`.
ir::StorageScope scope_of(const Schedule& schedule, StageId id);

}  // namespace texloom::schedule
