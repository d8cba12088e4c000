// A reduction that the threads of a block share: each thread reduces its own steps, then all
// combine their partial results in shared memory.
#pragma once

#include <vector>

#include "ir/stmt.h"
#include "lower/build/stage_results.h"
#include "lower/build/store_predicate.h"
#include "schedule/bounds/bounds.h"
#include "schedule/schedule.h"

namespace texloom::lower {

struct ThreadReduction {
  ir::Reducer reducer;              // at this point of the loops
  ResultElement part;               // of each thread: what its own steps give
  ResultElement parts;              // of the block: [groups..., threads]; at the thread's own place
  std::vector<ThreadLoop> groups;   // loops around, each iteration of which has a result of its own
  std::vector<ThreadLoop> threads;  // that share one result

  ThreadReduction(const schedule::Stage& stage, const schedule::StageBounds& bounds,
                  std::vector<ThreadLoop> loops_around, std::vector<ThreadLoop> sharing);

  // Stores the part of every thread to `parts`, then combines one half of them with the other until
  // the first holds the result. insert_barriers puts barriers between the steps.
  ir::Stmt combination() const;
  // Loads the result, for every thread.
  ir::Exprs result() const;
  // Lets the first thread for which the predicate holds make the store. Without a predicate,
  // split_kernels lets the first thread make it. Fails with BadPredicate.
  ir::Stmt stored(const schedule::Stage& stage, ir::Stmt store) const;

 private:
  ir::Expr number() const;  // of the thread among those that share
  ResultElement of(const ir::Expr& thread) const;
  ir::Stmt inside_threads(ir::Stmt body) const;
};

}  // namespace texloom::lower
