// A reduction that the threads of a block share: each reduces its own steps, then they put their
// partial results together in shared memory.
#pragma once

#include <vector>

#include "ir/stmt.h"
#include "lower/places.h"
#include "lower/store_predicate.h"
#include "schedule/bounds.h"
#include "schedule/schedule.h"

namespace texloom::lower {

struct ThreadReduction {
  ir::Reducer reducer;              // at this point of the loops
  Place part;                       // of each thread: what its own steps give
  Place parts;                      // of the block: [groups..., threads]; at the thread's own place
  std::vector<ThreadLoop> groups;   // loops around, each iteration of which has a result of its own
  std::vector<ThreadLoop> threads;  // that share one result

  ThreadReduction(const schedule::Stage& stage, const schedule::StageBounds& bounds,
                  std::vector<ThreadLoop> loops_around, std::vector<ThreadLoop> sharing);

  // Every thread's part into `parts`, then halves of them onto one another until the first holds
  // the result. insert_barriers puts barriers between the steps.
  ir::Stmt combination() const;
  // The result, for every thread.
  ir::Exprs result() const;
  // `store` by the first of the threads for which the predicate holds; without one the store is
  // left to split_kernels, which takes the first thread. Fails with BadPredicate.
  ir::Stmt stored(const schedule::Stage& stage, ir::Stmt store) const;

 private:
  ir::Expr number() const;  // of the thread among those that share
  Place of(const ir::Expr& thread) const;
  ir::Stmt inside_threads(ir::Stmt body) const;
};

}  // namespace texloom::lower
