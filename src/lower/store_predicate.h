// Store predicates: of the threads that have the same result, the first for which one holds stores
// it. Those are the threads that share a reduction, or that none of the stage's loops is bound to.
#pragma once

#include <vector>

#include "ir/stmt.h"
#include "schedule/bounds.h"
#include "schedule/schedule.h"

namespace texloom::lower {

// A loop over threads; of virtual ones, without a tag.
struct ThreadLoop {
  ir::Expr var;
  int64_t extent = 1;
  ir::ThreadTag tag;
  SourceLocation location;
};

// The first of the threads, the last loop's index running fastest, for which the stage's predicate
// holds. Fails with BadPredicate where it holds for none, or speaks of other threads.
int64_t first_storing(const schedule::Stage& stage, const std::vector<ThreadLoop>& threads);

// Of a stage that no reduction over threads computes: threads of its kernel that none of its loops
// is bound to all store the same, so that it is enough that the predicate holds for one of them;
// split_kernels takes the first. Fails with BadPredicate.
void check_store_predicate(const schedule::Schedule& schedule, const schedule::Bounds& bounds,
                           schedule::StageId id);

}  // namespace texloom::lower
