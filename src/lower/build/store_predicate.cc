#include "lower/build/store_predicate.h"

#include <algorithm>

#include "ir/arith/simplify.h"
#include "ir/visit.h"
#include "schedule/attach.h"
#include "support/diagnostic.h"

namespace texloom::lower {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // the whole file also works on stages

namespace {

constexpr int64_t kMostThreads = 1 << 16;  // split_kernels refuses blocks with more threads

void add_conjuncts(const Expr& condition, Exprs& found) {
  const auto* both = as<Binary>(condition);
  if (both == nullptr || both->op != BinaryOp::And) return found.push_back(condition);
  add_conjuncts(both->a, found);
  add_conjuncts(both->b, found);
}

using ThreadTags = std::vector<ThreadTag>;

[[noreturn]] void fail_for_thread(const Stage& stage, const Var& v) {
  fail(stage.predicate_location, Code::BadPredicate,
       "name thread axes to which its reduction axes are bound, or thread axes to which only "
       "loops of stages computed inside it are bound",
       "the store predicate of '{}' names {}, but threads along it compute different elements",
       stage.name(), v.name);
}

// The condition with this thread's values for the tags of `threads`; variables of other tags stay.
Expr at_thread(const Expr& condition, const std::vector<ThreadLoop>& threads, int64_t thread) {
  Substitution values;
  walk(condition, [&](const Var& v) {
    int64_t stride = 1;
    for (auto t = threads.rbegin(); t != threads.rend(); ++t) {
      if (to_string(t->tag) == v.name) {
        values.emplace(Expr(&v), make_int(thread / stride % t->extent, v.type));
        return;
      }
      stride *= t->extent;
    }
  });
  return substitute(condition, values);
}

// The stage to which a stage is attached; null at the root.
const Stage* host_of(const Schedule& schedule, const Stage& stage) {
  if (stage.attachment.kind != AttachKind::At) return nullptr;
  return &schedule.stage(stage.attachment.stage);
}

StageId root_of(const Schedule& schedule, StageId id) {
  const Stage* root = &schedule.stage(id);
  while (const Stage* host = host_of(schedule, *root)) root = host;
  return root->id;
}

// The tags of the stage's loops and of the enclosing loops.
ThreadTags tags_around(const Schedule& schedule, StageId id) {
  ThreadTags tags;
  for (const LoopRef& loop : all_loops(schedule, id)) {
    const IterVar thread = thread_of(schedule, loop);
    if (thread && thread->kind == IterKind::Thread) tags.push_back(thread->tag);
  }
  return tags;
}

// The loops over threads of the stage's kernel that compute the same elements, once per tag.
std::vector<ThreadLoop> repeating_threads(const Schedule& schedule, const Bounds& bounds,
                                          StageId id) {
  ThreadTags known = tags_around(schedule, id);
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

// Checks that a condition on threads that compute different elements holds at all elements.
// Schedules use such conditions to repeat the guards of loops that end in the middle of a block.
// For an attached stage, only the elements that its reader needs count.
void check_holds(const Schedule& schedule, const Bounds& bounds, const Stage& stage,
                 const Expr& condition) {
  Substitution threads;
  for (const LoopRef& loop : all_loops(schedule, stage.id)) {
    const IterVar thread = thread_of(schedule, loop);
    if (!thread || thread->kind != IterKind::Thread) continue;
    walk(condition, [&](const Var& v) {
      if (v.name == to_string(thread->tag)) {
        threads.emplace(Expr(&v), bounds.of(loop.stage).loop_of(loop.leaf).var);
      }
    });
  }
  arith::Ranges inside = bounds.ranges;
  for (const Stage* at = &stage; at != nullptr; at = host_of(schedule, *at)) {
    const StageBounds& own = bounds.of(at->id);
    for (const Exprs* conditions : {&own.guards, &own.clamps}) {
      for (const Expr& each : *conditions) inside.assume(each);
    }
  }
  if (arith::prove(substitute(condition, threads), inside)) return;
  walk(condition, [&](const Var& v) { fail_for_thread(stage, v); });
}

}  // namespace

int64_t first_storing(const Stage& stage, const std::vector<ThreadLoop>& threads) {
  int64_t count = 1;
  for (const ThreadLoop& t : threads) count = std::min(count * t.extent, kMostThreads);
  Exprs parts;
  add_conjuncts(stage.predicate, parts);
  for (int64_t thread = 0; thread < count; ++thread) {
    const bool stores = std::none_of(parts.begin(), parts.end(), [&](const Expr& part) {
      return is_false(at_thread(part, threads, thread));
    });
    if (stores) return thread;
  }
  fail(stage.predicate_location, Code::BadPredicate,
       "give a condition that holds for one of the threads, such as tx.var.equal(0)",
       "the store predicate of '{}' holds for no thread, so nothing is stored", stage.name());
}

void check_store_predicate(const Schedule& schedule, const Bounds& bounds, StageId id) {
  const Stage& stage = schedule.stage(id);
  if (!stage.predicate) return;
  const std::vector<ThreadLoop> threads = threads_share_reduction(schedule, id)
                                              ? sharing_threads(schedule, bounds, id)
                                              : repeating_threads(schedule, bounds, id);
  const int64_t storing = first_storing(stage, threads);
  check_holds(schedule, bounds, stage, at_thread(stage.predicate, threads, storing));
}

}  // namespace texloom::lower
