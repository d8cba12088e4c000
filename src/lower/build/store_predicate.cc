#include "lower/build/store_predicate.h"

#include <algorithm>

#include "ir/visit.h"
#include "schedule/attach.h"
#include "support/diagnostic.h"

namespace texloom::lower {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // and on stages of a schedule

namespace {

constexpr int64_t kMostThreads = 1 << 16;  // no block has more: split_kernels refuses it

// Maps the variables of a predicate to these threads; fails if it names other threads.
Substitution values_of_tags(const Stage& stage, const std::vector<ThreadLoop>& threads,
                            int64_t thread) {
  Substitution values;
  walk(stage.predicate, [&](const Var& v) {
    int64_t stride = 1;
    for (auto t = threads.rbegin(); t != threads.rend(); ++t) {
      if (to_string(t->tag) == v.name) {
        values.emplace(Expr(&v), make_int(thread / stride % t->extent, v.type));
        return;
      }
      stride *= t->extent;
    }
    fail(stage.predicate_location, Code::BadPredicate,
         "use thread axes to which its reduction axes are bound, or thread axes of stages inside "
         "it to which none of its own loops is bound",
         "the store predicate of '{}' names {}, but threads along it compute different elements",
         stage.name(), v.name);
  });
  return values;
}

StageId root_of(const Schedule& schedule, StageId id) {
  while (schedule.stage(id).attachment.kind == AttachKind::At) {
    id = schedule.stage(id).attachment.stage;
  }
  return id;
}

// The tags of the stage's loops and of the enclosing loops.
std::vector<ThreadTag> tags_around(const Schedule& schedule, StageId id) {
  std::vector<ThreadTag> tags;
  for (const LoopRef& loop : all_loops(schedule, id)) {
    const IterVar thread = thread_of(schedule, loop);
    if (thread && thread->kind == IterKind::Thread) tags.push_back(thread->tag);
  }
  return tags;
}

// The loops over threads of the stage's kernel that compute the same elements, once per tag.
std::vector<ThreadLoop> repeating_threads(const Schedule& schedule, const Bounds& bounds,
                                          StageId id) {
  std::vector<ThreadTag> known = tags_around(schedule, id);
  std::vector<ThreadLoop> found;
  for (const StageId other : schedule.order()) {
    if (root_of(schedule, other) != root_of(schedule, id)) continue;
    for (const LeafLoop& loop : bounds.of(other).loops) {
      const IterVar thread = thread_of(schedule, {other, loop.axis});
      const int64_t* extent = int_value(loop.extent);
      if (!thread || thread->kind != IterKind::Thread || extent == nullptr) continue;
      if (std::find(known.begin(), known.end(), thread->tag) != known.end()) continue;
      known.push_back(thread->tag);
      found.push_back({loop.var, *extent, thread->tag, {}});
    }
  }
  return found;
}

}  // namespace

int64_t first_storing(const Stage& stage, const std::vector<ThreadLoop>& threads) {
  int64_t count = 1;
  for (const ThreadLoop& t : threads) count = std::min(count * t.extent, kMostThreads);
  for (int64_t thread = 0; thread < count; ++thread) {
    if (is_true(substitute(stage.predicate, values_of_tags(stage, threads, thread)))) return thread;
  }
  fail(stage.predicate_location, Code::BadPredicate,
       "give a condition that holds for one of the threads, such as tx.var.equal(0)",
       "the store predicate of '{}' holds for no thread, so nothing is stored", stage.name());
}

void check_store_predicate(const Schedule& schedule, const Bounds& bounds, StageId id) {
  const Stage& stage = schedule.stage(id);
  if (!stage.predicate || threads_share_reduction(schedule, id)) return;
  first_storing(stage, repeating_threads(schedule, bounds, id));
}

}  // namespace texloom::lower
