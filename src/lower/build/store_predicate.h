// Evaluates store predicates: if several threads have the same result, the first one for which the
// predicate holds stores it. Such threads share a reduction, or none of the stage's loops is bound
// to them. Parts of the predicate about other threads must hold wherever there is an element that
// the output needs, as the guards of loops do.
#pragma once

#include <vector>

#include "ir/stmt.h"
#include "schedule/bounds/bounds.h"
#include "schedule/schedule.h"

namespace texloom::lower {

// A loop over threads; a loop over virtual threads has no tag.
struct ThreadLoop {
  ir::Expr var;
  int64_t extent = 1;
  ir::ThreadTag tag;
  SourceLocation location;
};

// The number of the first thread for which the stage's predicate holds; the index of the last loop
// varies fastest. Ignores the parts of the predicate that name none of the threads. Fails with
// BadPredicate if it holds for none, or if a part names other threads too.
int64_t first_storing(const schedule::Stage& stage, const std::vector<ThreadLoop>& threads);

// Checks the stage's predicate. If the stage is not reduced over threads, the threads of its kernel
// to which none of its loops is bound all have the same value, so it is enough if the predicate
// holds for one of them; split_kernels lets the first one store it. Fails with BadPredicate.
void check_store_predicate(const schedule::Schedule& schedule, const schedule::Bounds& bounds,
                           schedule::StageId id);

}  // namespace texloom::lower
