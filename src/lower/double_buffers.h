// Stages that are computed one iteration ahead of the loop they are attached to.
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
