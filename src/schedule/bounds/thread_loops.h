// Loops over the threads of a block.
#pragma once

#include <vector>

#include "ir/stmt.h"
#include "schedule/bounds/bounds.h"
#include "schedule/schedule.h"

namespace texloom::schedule {

// A loop over threads; a loop over virtual threads has no tag.
struct ThreadLoop {
  ir::Expr var;
  int64_t extent = 1;
  ir::ThreadTag tag;
  SourceLocation location;
};

// The extent of a loop that is bound to threads at `where`. Fails with ThreadExtentMismatch if it
// is not constant.
int64_t thread_count(const LeafLoop& loop, const SourceLocation& where);

// The threads that share each result of the stage, as loops with new variables; none if threads do
// not share its reduction.
std::vector<ThreadLoop> sharing_threads(const Schedule& schedule, const Bounds& bounds, StageId id);

}  // namespace texloom::schedule
