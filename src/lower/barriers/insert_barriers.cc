#include "lower/barriers/insert_barriers.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/accesses.h"
#include "ir/analysis/uniform_values.h"
#include "ir/equal.h"
#include "ir/visit.h"
#include "lower/analysis/loop_ranges.h"
#include "lower/barriers/collected_accesses.h"
#include "lower/barriers/drop_barriers.h"
#include "lower/barriers/own_elements.h"
#include "lower/barriers/shared_access.h"
#include "lower/barriers/thread_accesses.h"
#include "support/diagnostic.h"
#include "support/function_ref.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes

namespace {

class BarrierInserter {
 public:
  // Inserts barriers for the shared buffers of a kernel.
  BarrierInserter(const Kernel& kernel, const Target& target)
      : uniform_(kernel), conditional_(target.quirks.conditional_barriers) {
    for (const ThreadAxis& axis : kernel.axes) {
      ranges_.enter(axis.var, axis.extent);
      if (!axis.tag.block && !is_int(axis.extent, 1)) threads_.push_back(axis.var);
    }
    for_each_access(kernel.body, [&](const BufferAccess& n) {
      if (n.buffer->memory == MemoryScope::Shared) buffers_.insert(n.buffer.get());
    });
    walk(kernel.body, [&](const For& loop) { ranges_.enter_also(loop); });
    walk(kernel.body, [&](const AsyncCopies& copies) { copied_.add(all_of_stored(copies)); });
  }
  // Inserts barriers for these buffers in a nest at stage loops.
  BarrierInserter(const Nest& nest, BufferSet buffers, BufferSet overwritten, const Target& target)
      : buffers_(std::move(buffers)),
        overwritten_(std::move(overwritten)),
        ranges_(loop_ranges(nest.body)),
        uniform_(nest),
        conditional_(target.quirks.conditional_barriers) {}

  Stmt run(const Stmt& s) {
    if (const auto* seq = as<Seq>(s)) {
      Stmts statements;
      for (const Stmt& each : seq->statements) statements.push_back(run(each));
      return make_seq(std::move(statements));
    }
    if (const auto* n = as<Allocate>(s)) return make_allocate(n->buffer, run(n->body), n->location);
    if (const auto* loop = as<For>(s)) {
      if (!runs_at_once(*loop)) return run(*loop, s);
      // A barrier does not order blocks.
      const bool within_block = !loop->tag.block && !is_int(loop->extent, 1);
      if (within_block) threads_.push_back(loop->var);
      const Stmt result = map_children(
          s, [](const Expr& e) { return e; }, [this](const Stmt& child) { return run(child); });
      if (within_block) threads_.pop_back();
      return result;
    }
    if (const auto* loop = as<While>(s)) return run(*loop, s);
    if (const auto* let = as<Let>(s)) return is_update(*let, {}) ? before(s) : run(*let);
    if (const auto* guard = as<If>(s)) return run(*guard, s);
    if (const auto* last = as<LastBlock>(s)) return run(*last);
    if (as<Barrier>(s) != nullptr) {
      separate();
      return s;
    }
    // A barrier belongs between the wait and what follows, not in front of the wait.
    if (as<AwaitCopies>(s) != nullptr) {
      pending_.add(copied_);
      return s;
    }
    return before(s);
  }

 private:
  // Reads and writes of all elements of the buffers that copies fill.
  SharedAccesses all_of_stored(const AsyncCopies& copies) const {
    SharedAccesses all;
    walk(copies.body, [&](const Store& store) {
      const SharedAccess anywhere(store.buffer, {}, ranges_, uniform_.varying());
      SharedAccesses::add(all.reads, anywhere);
      SharedAccesses::add(all.writes, anywhere);
    });
    return all;
  }

  template <class Node>
  SharedAccesses accesses_of(const Node& node) const {
    return lower::accesses_of(node, {buffers_, overwritten_, copied_, ranges_, uniform_.varying()});
  }

  // Whether the iterations of the loop are threads.
  static bool runs_at_once(const For& loop) {
    return loop.loop == LoopKind::Thread || loop.loop == LoopKind::Virtual;
  }

  // The state at the end of a loop, which does not depend on what precedes the loop.
  struct Exit {
    SharedAccesses pending;
    bool separated = false;  // whether a barrier in the loop follows all accesses before the loop
  };

  // Processes the body a second time if accesses at the end of an iteration conflict with the next
  // iteration.
  Stmt run(const For& loop, const Stmt& self) {
    const int64_t* extent = int_value(loop.extent);
    const bool repeats = extent != nullptr && *extent > 0;
    return run_loop(self, repeats, [&](const SharedAccesses& accesses) {
      const auto each_pending = [&](auto change) {
        change(pending_.reads, loop.var);
        change(pending_.writes, loop.var);
      };
      Stmt body = run(loop.body);
      each_pending(next_iteration);
      if (threads_.empty()) forget_places(loop.var);
      if (accesses.conflicts_with(pending_, overwritten_)) body = run(body);
      if (contains<Barrier>(body)) check_agreement(loop.extent, loop.location);
      each_pending(leave_loop);
      return make_for(loop.var, loop.extent, loop.loop, body, loop.location);
    });
  }

  // Another iteration of a loop around those over threads, in which an element of the same place
  // may belong to another thread. In loops inside of those over threads, no order is defined.
  void forget_places(const Expr& var) {
    for (SharedAccess& write : pending_.writes) {
      const bool varies =
          std::ranges::any_of(write.place, [&](const Expr& index) { return uses_var(index, var); });
      if (varies) write.place.clear();
    }
  }

  // The condition is evaluated before the body, and again after it.
  Stmt run(const While& loop, const Stmt& self) {
    return run_loop(self, false, [&](const SharedAccesses& accesses) {
      const SharedAccesses condition = accesses_of(loop.condition);
      pending_.add(condition);
      Stmt body = run(loop.body);
      if (meets(condition)) body = make_seq({body, make_barrier(loop.location)});
      pending_.add(condition);
      if (accesses.conflicts_with(pending_, overwritten_)) body = run(body);
      if (contains<Barrier>(body)) check_agreement(loop.condition, loop.location);
      return make_while(loop.condition, body, loop.location);
    });
  }

  // A conflict with an access before the loop gets one barrier in front of the loop. Earlier
  // accesses then do not matter inside the loop, so that the result for a loop can be reused.
  Stmt run_loop(const Stmt& self, bool repeats, FunctionRef<Stmt(const SharedAccesses&)> inside) {
    const SharedAccesses accesses = accesses_of(self);
    if (accesses.empty()) return self;
    const bool conflict = meets(accesses);
    auto known = exits_.find(self);
    if (known == exits_.end()) {
      SharedAccesses before = std::exchange(pending_, {});
      const bool separated_before = std::exchange(separated_, false);
      const Stmt whole = inside(accesses);
      const Exit exit{std::exchange(pending_, std::move(before)), separated_ && repeats};
      separated_ = separated_before;
      known = exits_.emplace(whole, exit).first;
    }
    if (known->second.separated) separate();
    pending_.add(known->second.pending);
    return after_barrier(conflict, known->first);
  }

  // The threads of the block wait for one another before the body, which all of them run or none.
  Stmt run(const LastBlock& n) {
    separate();
    const Stmt body = run(n.body);
    if (!conditional_ && contains<Barrier>(body)) {
      fail(n.location, Code::BarrierInCondition,
           "let the last block exchange nothing in shared memory, or build for a target with "
           "-conditional_barriers=1",
           "a barrier is needed where only the last of several blocks goes on: such barriers are "
           "known to fail on CPUs");
    }
    return make_last_block(n.counters, n.index, n.count, n.flag, body, n.location);
  }

  Stmt run(const Let& let) {
    const SharedAccesses value = accesses_of(let.value);
    const bool conflict = meets(value);
    pending_.add(value);
    if (let.value->type.is_bool()) conditions_.emplace(let.var, substitute(let.value, conditions_));
    return after_barrier(conflict, make_let(let.var, let.value, run(let.body), let.location));
  }

  // Puts barriers inside an If whose body needs them regardless of what precedes it. Requires that
  // all threads agree on the condition and that the target allows conditional barriers.
  Stmt run(const If& guard, const Stmt& self) {
    Expr condition = guard.condition;
    const Stmt* inner = &guard.then;
    while (const auto* nested = as<If>(*inner)) {
      condition = condition && nested->condition;
      inner = &nested->then;
    }
    const auto* let = as<Let>(*inner);
    if (let != nullptr && is_update(*let, condition)) return before(self);
    SharedAccesses outside = std::exchange(pending_, {});
    const bool separated_before = separated_;
    guards_.push_back(substitute(guard.condition, conditions_));
    const Stmt body = run(guard.then);
    guards_.pop_back();
    pending_ = std::move(outside);
    separated_ = separated_before;
    if (!contains<Barrier>(body)) return before(self);
    const bool refused = uniform_.varies(guard.condition) || !conditional_;
    if (refused && !contains<Barrier>(guard.then) && keeps_to_own_elements(self)) {
      return before(self);
    }
    check_condition(guard.condition, guard.location);
    return before(make_if(guard.condition, body, guard.location));
  }

  // Whether threads need no barrier inside the statement, given the conditions around it.
  bool keeps_to_own_elements(const Stmt& s) const {
    arith::Ranges ranges = ranges_;
    for (const Expr& guard : guards_) ranges.assume(guard);
    return keep_to_own_elements(s, buffers_, threads_, uniform_.varying(), ranges);
  }

  // Whether the Let is one step of a reduction of several values, each of which is in a buffer of
  // its own. In such a step, all values read these buffers only at the replaced elements and at
  // elements that no thread replaces under the enclosing guard. The step counts as one statement,
  // like a store that reads its own element.
  bool is_update(const Let& let, const Expr& guard) const {
    const Let* last = &let;
    while (const auto* next = as<Let>(last->body)) last = next;
    const auto* seq = as<Seq>(last->body);
    if (seq == nullptr) return false;
    std::vector<const Store*> stores;
    BufferSet stored;
    for (const Stmt& each : seq->statements) {
      const auto* store = as<Store>(each);
      if (store == nullptr || !stored.insert(store->buffer.get()).second) return false;
      stores.push_back(store);
    }
    arith::Ranges ranges = ranges_;
    if (guard) ranges.assume(guard);
    const auto keeps = [&](const Expr& value) {
      bool update = true;
      walk(value, [&](const Load& load) {
        for (const Store* store : stores) {
          if (!load.buffer.same_as(store->buffer)) continue;
          update = update && (same_place(load.indices, store->indices) ||
                              never_equal(load.indices, store->indices, ranges));
        }
      });
      walk(value, [&](const Pointer& n) { update = update && !stored.contains(n.buffer.get()); });
      return update;
    };
    for (const Let* n = &let; n != nullptr; n = as<Let>(n->body)) {
      if (!keeps(n->value)) return false;
    }
    return std::all_of(stores.begin(), stores.end(), [&](const Store* store) {
      return keeps(store->value) &&
             std::all_of(store->indices.begin(), store->indices.end(), keeps);
    });
  }

  // Checks that all threads of a block agree on an expression that decides whether they reach a
  // barrier.
  void check_agreement(const Expr& decides, const SourceLocation& where) const {
    if (!uniform_.varies(decides)) return;
    fail(where, Code::BarrierInCondition,
         "let all threads run the statement, and put the condition around individual stores",
         "a barrier is needed inside a branch on '{}', which differs between threads of a block: "
         "the branch writes memory that other threads read",
         as_written(decides));
  }
  void check_condition(const Expr& condition, const SourceLocation& where) const {
    check_agreement(condition, where);
    if (conditional_) return;
    fail(where, Code::BarrierInCondition,
         "put the condition around individual stores, or build for a target with "
         "-conditional_barriers=1",
         "a barrier is needed inside a branch on '{}': all threads agree on it, but such barriers "
         "are known to fail on CPUs",
         as_written(condition));
  }
  std::string as_written(const Expr& condition) const {
    return to_string(substitute(condition, conditions_));
  }

  // Whether a barrier is needed before these accesses. If so, assumes that the caller inserts it.
  bool meets(const SharedAccesses& accesses) {
    const bool conflict = accesses.conflicts_with(pending_, overwritten_);
    if (conflict) separate();
    return conflict;
  }

  void separate() {
    pending_ = {};
    separated_ = true;
  }

  Stmt before(const Stmt& s) {
    const SharedAccesses accesses = accesses_of(s);
    const bool conflict = meets(accesses);
    pending_.add(accesses);
    return after_barrier(conflict, s);
  }

  static Stmt after_barrier(bool needed, const Stmt& s) {
    return needed ? make_seq({make_barrier(s->location), s}) : s;
  }

  BufferSet buffers_;        // shared by threads
  BufferSet overwritten_;    // the buffers for which the order of writes matters, too
  SharedAccesses copied_;    // all of what asynchronous copies fill: accessed by AwaitCopies
  Exprs threads_;            // the variables of the threads that run a statement
  Exprs guards_;             // the conditions around a statement
  Substitution conditions_;  // the conditions that variables hold, for messages
  arith::Ranges ranges_;     // the ranges of all variables of the kernel
  UniformValues uniform_;    // which values are equal for all threads of a block
  bool conditional_;         // whether the target allows barriers under an If
  SharedAccesses pending_;   // the accesses since the last barrier
  bool separated_ = false;   // whether a barrier was placed so far
  // The states at the ends of finished loops.
  std::unordered_map<Stmt, Exit, RefHash, RefSame> exits_;
};

// The buffers of a nest that need additional barriers, besides the barriers between writes and
// reads of shared memory.
struct Exchanged {
  // Global buffers in which a thread may read what another thread of its block wrote.
  BufferSet buffers;
  // BufferSet in which a thread may overwrite what another thread of its block wrote.
  BufferSet overwritten;
};

Exchanged exchanged_in(const Nest& nest) {
  const arith::Ranges ranges = loop_ranges(nest.body);
  const ThreadAccesses accesses(
      nest.body, [](const Buffer& b) { return !is_private(b->memory); }, ranges);
  const auto in_block = [](ThreadTag tag) { return !tag.block; };
  Exchanged found;
  for (const Exchange& each : accesses.with_reads(0, in_block)) {
    if (each.write->buffer->memory == MemoryScope::Global) found.buffers.insert(each.write->buffer);
  }
  for (const Exchange& each : accesses.with_writes(0, in_block)) {
    found.overwritten.insert(each.write->buffer);
  }
  found.buffers.insert(found.overwritten.begin(), found.overwritten.end());
  return found;
}

}  // namespace

Stmt insert_nest_barriers(const Stmt& nests, const Target& target) {
  return rewrite(nests, [&](const Nest& nest, const Stmt& self) {
    Exchanged exchange = exchanged_in(nest);
    if (exchange.buffers.empty()) return self;
    BarrierInserter inserter(nest, std::move(exchange.buffers), std::move(exchange.overwritten),
                             target);
    const Stmt body = inserter.run(nest.body);
    return make_nest(nest.result, body, self->location);
  });
}

void place_barriers(Lowering& lowering) {
  for (Kernel& kernel : lowering.program.kernels) {
    const bool alone = kernel.block == std::array<int64_t, 3>{1, 1, 1};
    if (!alone) kernel.body = BarrierInserter(kernel, lowering.target).run(kernel.body);
  }
}

}  // namespace texloom::lower
