// Stages that are computed one iteration ahead of the loop they are attached to.
//
// `pipeline` fills buffers ahead, too, but it is a different mechanism
// (lower/loops/pipeline_loops.h), and each does what the other cannot. double_buffer is a hint that
// has to work for any stage: reductions, several stages that read one another, loops of symbolic
// extent. It works on stages: it builds their nests for the next iteration, into the other of two
// buffers. pipeline splits a fill into loads and stores, so that loads are in flight while a tile
// is computed. For that the fill has to be one store in loops of constant extents, which only
// statements show; pipeline refuses everything else. A loop has stages of one of the two kinds.
#pragma once

#include <vector>

#include "lower/lowering.h"
#include "schedule/attach.h"

namespace texloom::lower {

// Whether the stage gets two buffers: it is attached to a loop whose iterations follow one another,
// and is in memory of a block or of a thread.
bool has_two_buffers(const schedule::Schedule& schedule, schedule::StageId id);

// The stages with two buffers that are attached to this loop, in topological order.
std::vector<schedule::StageId> double_buffered_at(const schedule::Schedule& schedule,
                                                  const schedule::LoopRef& loop);

// Warns where double_buffer has no effect. Fails with BadDoubleBuffer where a stage would be
// computed ahead of a stage that it reads.
void check_double_buffers(Lowering& lowering);

}  // namespace texloom::lower
