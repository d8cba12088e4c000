// Finds the stages that are computed one iteration ahead of the loop they are attached to.
//
// `pipeline` also fills buffers ahead, but with a different mechanism
// (lower/loops/pipeline_loops.h), and each can do things the other cannot. double_buffer is a hint
// that has to work for any stage: reductions, several stages that read one another, loops of
// symbolic extent. double_buffer works on stages: it builds their nests for the next iteration,
// into the other of two buffers. pipeline splits a fill into loads and stores, so that loads are in
// flight while a tile is computed. The fill therefore has to be a single store in loops of constant
// extents, which is visible only in statements; pipeline refuses everything else. The two
// directives cannot be mixed in one loop.
#pragma once

#include <vector>

#include "lower/lowering.h"
#include "schedule/attach.h"

namespace texloom::lower {

// Whether the stage gets two buffers: it is attached to a sequential loop and is in memory of a
// block or a thread.
bool has_two_buffers(const schedule::Schedule& schedule, schedule::StageId id);

// The stages with two buffers that are attached to this loop, in topological order.
std::vector<schedule::StageId> double_buffered_at(const schedule::Schedule& schedule,
                                                  const schedule::LoopRef& loop);

// Warns if double_buffer has no effect. Fails with BadDoubleBuffer if a stage would be computed
// ahead of a stage that it reads.
void check_double_buffers(Lowering& lowering);

}  // namespace texloom::lower
