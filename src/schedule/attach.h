// Where attached stages run: the loops around each stage.
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

// The loops that enclose the stage's own, outermost first: those of the stage it is attached to,
// down to the attachment loop, and that stage's in turn. Empty for a root stage. An attachment
// to a loop that was split later moves to the inner part, to the inner one of fused loops to the
// fused loop. Fails with AttachCycle or AttachNotFound.
LoopPath enclosing_loops(const Schedule& schedule, StageId id);

// The enclosing loops, then the stage's own.
LoopPath all_loops(const Schedule& schedule, StageId id);

// Fails with AttachNotFound unless the loops around an attached stage enclose the reader too.
void check_encloses(const Schedule& schedule, StageId attached, StageId reader);

// The leaf that an axis of the stage has become.
ir::IterVar leaf_of(const Stage& stage, ir::IterVar axis);

// Whether both are one index of a kernel: real threads of one tag are, virtual ones only if they
// are one object.
bool is_one_thread_axis(const ir::IterVar& a, const ir::IterVar& b);

// Whether all threads along this axis, virtual ones too, see one buffer of that scope.
bool share_buffer(ir::MemoryScope memory, const ir::IterVar& thread);

// The thread axis that the iterations of a loop are dealt out to; null for a serial loop. A loop
// over data that is bound to threads of which each has its own part of the stage's buffer is
// serial: each thread runs it for itself.
ir::IterVar thread_of(const Schedule& schedule, const LoopRef& loop);

// Whether the iterations of a reduction axis of the stage are dealt out to threads.
bool threads_share_reduction(const Schedule& schedule, StageId id);

// The scope the user set, or the one inferred from the enclosing loops: `local` under a
// threadIdx or virtual threads, `shared` under a blockIdx alone, else `global`.
ir::StorageScope scope_of(const Schedule& schedule, StageId id);

}  // namespace texloom::schedule
