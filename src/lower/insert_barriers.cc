#include "lower/insert_barriers.h"

#include <algorithm>
#include <unordered_set>

#include "ir/equal.h"
#include "ir/visit.h"
#include "lower/shared_access.h"
#include "support/diagnostic.h"

namespace texloom::lower {

using namespace ir;  // the whole file speaks of IR nodes

namespace {

using SharedAccesses = std::vector<SharedAccess>;

bool meet(const SharedAccesses& a, const SharedAccesses& b) {
  return std::any_of(a.begin(), a.end(), [&](const SharedAccess& x) {
    return std::any_of(b.begin(), b.end(), [&](const SharedAccess& y) { return x.may_meet(y); });
  });
}

void add(SharedAccesses& accesses, const SharedAccess& access) {
  if (std::find(accesses.begin(), accesses.end(), access) == accesses.end()) {
    accesses.push_back(access);
  }
}

bool same_place(const Exprs& a, const Exprs& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(),
                    [](const Expr& x, const Expr& y) { return equal(x, y); });
}

// Whether values are computed together from the elements that they replace, and of others that the
// same condition keeps from being replaced: a step of a reduction of several values. Like a store
// that reads its own element it is one statement.
bool is_update(const Let& let) {
  std::vector<const Load*> reads;
  const auto note = [&](const Load& load) { reads.push_back(&load); };
  const Let* inner = &let;
  for (const Let* next = inner; next != nullptr; next = as<Let>(next->body)) {
    inner = next;
    walk(inner->value, note);
  }
  const auto* stores = as<Seq>(inner->body);
  return stores != nullptr &&
         std::all_of(stores->statements.begin(), stores->statements.end(), [&](const Stmt& s) {
           const auto* store = as<Store>(s);
           return store != nullptr &&
                  std::any_of(reads.begin(), reads.end(), [&](const Load* read) {
                    return same_place(read->indices, store->indices);
                  });
         });
}

// What one statement reads and writes of shared buffers, apart from elements read back by the
// store that writes them.
class Accesses {
 public:
  SharedAccesses reads, writes;

  Accesses(const Stmt& s, const arith::Ranges& ranges) : ranges_(ranges) {
    walk(
        s,
        [&](const Store& store) {
          if (is_shared(store.buffer)) add(writes, {store.buffer, store.indices, ranges_});
          note_reads(store);
        },
        [&](const TextureStore& store) {
          for (const Expr& e : {store.x, store.y, store.value}) note_reads(e, nullptr);
        },
        [&](const Let& let) { note_reads(let.value, nullptr); },
        [&](const If& n) { note_reads(n.condition, nullptr); },
        [&](const While& n) { note_reads(n.condition, nullptr); },
        [&](const For& n) { note_reads(n.extent, nullptr); });
  }
  Accesses(const Expr& e, const arith::Ranges& ranges) : ranges_(ranges) { note_reads(e, nullptr); }

 private:
  static bool is_shared(const Buffer& b) { return b->memory == MemoryScope::Shared; }

  void note_reads(const Store& store) {
    note_reads(store.value, &store);
    for (const Expr& index : store.indices) note_reads(index, nullptr);
  }
  void note_reads(const Expr& e, const Store* store) {
    walk(e, [&](const Load& load) {
      if (!is_shared(load.buffer)) return;
      const bool own = store != nullptr && load.buffer.same_as(store->buffer) &&
                       same_place(load.indices, store->indices);
      if (!own) add(reads, {load.buffer, load.indices, ranges_});
    });
  }

  const arith::Ranges& ranges_;
};

class BarrierInserter {
 public:
  BarrierInserter(const Kernel& kernel, const Target& target) : one_stack_(target.block_stack) {
    for (const ThreadAxis& axis : kernel.axes) {
      ranges_.enter(axis.var, axis.extent);
      if (!axis.tag.block) varying_.insert(axis.var.get());
    }
    walk(
        kernel.body,
        [&](const For& loop) {
          ranges_.enter_also(loop);
          if (varies(loop.extent)) varying_.insert(loop.var.get());
        },
        [&](const Let& let) {
          if (varies(let.value)) varying_.insert(let.var.get());
        });
  }

  Stmt run(const Stmt& s) {
    if (const auto* seq = as<Seq>(s)) {
      Stmts statements;
      for (const Stmt& each : seq->statements) statements.push_back(run(each));
      return make_seq(std::move(statements));
    }
    if (const auto* n = as<Allocate>(s)) return make_allocate(n->buffer, run(n->body), n->location);
    if (const auto* loop = as<For>(s)) return run(*loop, s, Accesses(s, ranges_));
    if (const auto* loop = as<While>(s)) return run(*loop, s);
    if (const auto* let = as<Let>(s)) return is_update(*let) ? before(s) : run(*let);
    if (const auto* guard = as<If>(s)) return run(*guard, s);
    if (as<Barrier>(s) != nullptr) {
      reads_.clear();
      writes_.clear();
      return s;
    }
    return before(s);
  }

 private:
  // What stands before the loop is met by one barrier in front of it. Its body is gone through a
  // second time where what the end of an iteration leaves behind meets the next one.
  Stmt run(const For& loop, const Stmt& self, const Accesses& accesses) {
    if (accesses.reads.empty() && accesses.writes.empty()) return self;
    const bool conflict = meets(accesses);
    Stmt body = run(loop.body);
    for (SharedAccesses* pending : {&reads_, &writes_}) next_iteration(*pending, loop.var);
    if (in_conflict(accesses)) body = run(body);
    if (varies(loop.extent) && has_barrier(body)) refuse(loop.extent, loop.location);
    for (SharedAccesses* pending : {&reads_, &writes_}) leave_loop(*pending, loop.var);
    const Stmt whole = make_for(loop.var, loop.extent, loop.loop, body, loop.location);
    return conflict ? make_seq({make_barrier(loop.location), whole}) : whole;
  }

  // The condition is asked before the body, and again behind it.
  Stmt run(const While& loop, const Stmt& self) {
    const Accesses accesses(self, ranges_), condition(loop.condition, ranges_);
    if (accesses.reads.empty() && accesses.writes.empty()) return self;
    const bool conflict = meets(accesses);
    note(condition);
    Stmt body = run(loop.body);
    if (meets(condition)) body = make_seq({body, make_barrier(loop.location)});
    note(condition);
    if (in_conflict(accesses)) body = run(body);
    if (varies(loop.condition) && has_barrier(body)) refuse(loop.condition, loop.location);
    const Stmt whole = make_while(loop.condition, body, loop.location);
    return conflict ? make_seq({make_barrier(loop.location), whole}) : whole;
  }

  Stmt run(const Let& let) {
    const Accesses value(let.value, ranges_);
    const bool conflict = meets(value);
    note(value);
    const Stmt whole = make_let(let.var, let.value, run(let.body), let.location);
    return conflict ? make_seq({make_barrier(let.location), whole}) : whole;
  }

  // Barriers stand inside where what is guarded needs them by itself, if all threads agree on the
  // condition and the target gets that right.
  Stmt run(const If& guard, const Stmt& self) {
    BarrierInserter alone = *this;
    alone.reads_.clear();
    alone.writes_.clear();
    const Stmt body = alone.run(guard.then);
    if (body.same_as(guard.then) || !has_barrier(body)) return before(self);
    if (varies(guard.condition) || one_stack_) refuse(guard.condition, guard.location);
    const Accesses accesses(self, ranges_);
    const bool conflict = meets(accesses);
    note(accesses);
    const Stmt whole = make_if(guard.condition, body, guard.location);
    return conflict ? make_seq({make_barrier(guard.location), whole}) : whole;
  }

  [[noreturn]] static void refuse(const Expr& decides, const SourceLocation& where) {
    fail(where, Code::BarrierInCondition,
         "let all threads run the statement, and put the condition around single stores",
         "threads would have to meet inside what '{}' decides on: shared memory is written there "
         "that other threads read",
         to_string(decides));
  }

  // Whether the threads of a block may have different values of it.
  bool varies(const Expr& e) const {
    bool found = false;
    walk(
        e, [&](const Var& v) { found = found || varying_.contains(&v); },
        [&](const Load& n) { found = found || n.buffer->memory == MemoryScope::Local; });
    return found;
  }

  bool in_conflict(const Accesses& accesses) const {
    return meet(accesses.reads, writes_) || meet(accesses.writes, reads_);
  }

  // Whether a barrier is needed now; if so, it is taken to be there.
  bool meets(const Accesses& accesses) {
    const bool conflict = in_conflict(accesses);
    if (conflict) {
      reads_.clear();
      writes_.clear();
    }
    return conflict;
  }

  Stmt before(const Stmt& s) {
    const Accesses accesses(s, ranges_);
    const bool conflict = meets(accesses);
    note(accesses);
    return conflict ? make_seq({make_barrier(s->location), s}) : s;
  }

  void note(const Accesses& accesses) {
    for (const SharedAccess& access : accesses.reads) add(reads_, access);
    for (const SharedAccess& access : accesses.writes) add(writes_, access);
  }

  arith::Ranges ranges_;                         // of all variables of the kernel
  std::unordered_set<const ExprNode*> varying_;  // of them, those that vary within a block
  bool one_stack_;                 // whose compiler is known to get barriers under an If wrong
  SharedAccesses reads_, writes_;  // since the last barrier
};

}  // namespace

bool has_barrier(const Stmt& s) {
  bool found = false;
  walk(s, [&](const Barrier&) { found = true; });
  return found;
}

void insert_barriers(Lowering& lowering) {
  for (Kernel& kernel : lowering.program.kernels) {
    const bool alone = kernel.block == std::array<int64_t, 3>{1, 1, 1};
    if (!alone) kernel.body = BarrierInserter(kernel, lowering.target).run(kernel.body);
  }
}

}  // namespace texloom::lower
