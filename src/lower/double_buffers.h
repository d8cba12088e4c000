// Stages that are computed one iteration ahead of the loop they are attached to.
//
// `pipeline` fills buffers ahead, too, and yet is another mechanism (lower/pipeline_loops.h): each
// does what the other cannot. double_buffer is a hint, which has to hold for whatever a stage
// computes: reductions, several stages that read one another, loops of symbolic extent. It works on
// stages, whose nests it builds for another iteration, into the other of two buffers. pipeline
// splits a fill into what fetches and what stores, to have loads in flight while a tile is
// computed; for that the fill has to be one store in loops of constant extents, which can only be
// seen of statements. What is not so it refuses. A loop has stages of one of the two kinds.
#pragma once

#include <vector>

#include "lower/lowering.h"
#include "schedule/attach.h"

namespace texloom::lower {

// Whether double_buffer holds for the stage: it is attached to a loop with iterations that follow
// one another, in memory of a block or of a thread.
bool has_two_buffers(const schedule::Schedule& schedule, schedule::StageId id);

// Those attached to this loop, in topological order.
std::vector<schedule::StageId> double_buffered_at(const schedule::Schedule& schedule,
                                                  const schedule::LoopRef& loop);

// Warns where double_buffer does not hold. Fails with BadDoubleBuffer where a stage would be
// computed ahead of one that it reads.
void check_double_buffers(Lowering& lowering);

}  // namespace texloom::lower
