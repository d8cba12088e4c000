#include "schedule/bounds/thread_loops.h"

#include "ir/program.h"
#include "schedule/attach.h"
#include "support/diagnostic.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

int64_t thread_count(const LeafLoop& loop, const SourceLocation& where) {
  if (const int64_t* count = int_value(loop.extent)) return *count;
  fail(where, Code::ThreadExtentMismatch, "split the axis by a constant and bind the inner part",
       "the axis '{}' is bound to threads of a block, but its extent is not constant: {}",
       loop.axis->name(), to_string(loop.extent));
}

std::vector<ThreadLoop> sharing_threads(const Schedule& schedule, const Bounds& bounds,
                                        StageId id) {
  std::vector<ThreadLoop> threads;
  for (const LeafLoop& loop : bounds.of(id).loops) {
    const IterVar thread = thread_of(schedule, {id, loop.axis});
    if (loop.axis->kind != IterKind::Reduction || !thread) continue;
    const SourceLocation& where = schedule.stage(id).attributes_of(loop.axis)->location;
    threads.push_back(
        {make_var(loop.axis->name() + ".thread"), thread_count(loop, where), thread->tag, where});
  }
  return threads;
}

}  // namespace texloom::schedule
