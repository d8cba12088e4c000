// Evaluates store predicates: if several threads have the same result, the first one for which the
// predicate holds stores it. Threads have the same result if they share a reduction, or if none of
// the stage's loops is bound to them. After the index of the storing thread is substituted, the
// rest of the predicate, on other threads, must hold at every element that the output needs, as the
// guards of loops do.
#pragma once

#include <vector>

#include "schedule/bounds/bounds.h"
#include "schedule/bounds/thread_loops.h"
#include "schedule/schedule.h"

namespace texloom::lower {

// The number of the first thread for which the stage's predicate holds, as far as the predicate
// depends on these threads alone; the index of the last loop varies fastest. Fails with
// BadPredicate if it holds for none.
int64_t first_storing(const schedule::Stage& stage,
                      const std::vector<schedule::ThreadLoop>& threads);

// Checks the stage's predicate. If the stage is not reduced over threads, all threads of its kernel
// to which none of its loops is bound have the same value. Then the predicate need only hold for
// one of these threads; split_kernels lets the first of them store the value. For that thread, the
// rest of the predicate must hold at all elements. Fails with BadPredicate.
void check_store_predicate(const schedule::Schedule& schedule, const schedule::Bounds& bounds,
                           schedule::StageId id);

}  // namespace texloom::lower
