// Builds a reduction that the threads of a block share: each thread reduces its own steps, then all
// threads combine their partial results in shared memory.
#pragma once

#include <vector>

#include "ir/stmt.h"
#include "lower/build/stage_results.h"
#include "schedule/bounds/bounds.h"
#include "schedule/bounds/thread_loops.h"
#include "schedule/schedule.h"

namespace texloom::lower {

struct ThreadReduction {
  ir::Reducer reducer;  // the stage's reducer, at this point of the loops
  ResultElement part;   // the thread's partial result, of its own steps
  ResultElement parts;  // the block's partial results, [groups..., threads], at the thread's place
  std::vector<schedule::ThreadLoop> groups;   // enclosing loops: one result for each iteration
  std::vector<schedule::ThreadLoop> threads;  // loops over the threads that share a result

  ThreadReduction(const schedule::Stage& stage, const schedule::StageBounds& bounds,
                  std::vector<schedule::ThreadLoop> loops_around,
                  std::vector<schedule::ThreadLoop> sharing);

  // Stores the part of every thread to `parts`, then repeatedly combines one half of the elements
  // with the other half, until the first element is the result. insert_barriers puts barriers
  // between the steps.
  ir::Stmt combination() const;
  // Loads the result, for every thread.
  ir::Exprs result() const;
  // Guards the store so that only the first thread for which the predicate holds makes it. Without
  // a predicate, split_kernels chooses the first thread. Fails with BadPredicate.
  ir::Stmt stored(const schedule::Stage& stage, ir::Stmt store) const;

 private:
  ir::Expr number() const;  // the thread's number among the threads that share the result
  ResultElement of(const ir::Expr& thread) const;
  ir::Stmt inside_threads(ir::Stmt body) const;
};

}  // namespace texloom::lower
