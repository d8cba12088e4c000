// The blocks that share out the values of an attached stage (schedule/attach.h).
#pragma once

#include "schedule/bounds/bounds.h"
#include "schedule/schedule.h"

namespace texloom::lower {

// What a LastBlock (ir/stmt.h) says of a block's group.
struct GroupOfBlocks {
  ir::Buffer counters;  // one for each group of the grid
  ir::Expr index;       // the group's number, of the loops around the stage
  ir::Expr count;       // blocks of a group: iterations of the stage's own loops over blocks
  ir::Buffer flag;
};
// Requires a stage that is_divided_among_blocks(), in a checked schedule.
GroupOfBlocks group_of_blocks(const schedule::Schedule& schedule, const schedule::Bounds& bounds,
                              schedule::StageId id);

}  // namespace texloom::lower
