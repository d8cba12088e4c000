#include "lower/insert_barriers.h"

#include <algorithm>

#include "ir/equal.h"
#include "ir/visit.h"
#include "lower/shared_access.h"

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
        [&](const If& n) { note_reads(n.condition, nullptr); });
  }

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
  explicit BarrierInserter(const Kernel& kernel) {
    for (const ThreadAxis& axis : kernel.axes) {
      ranges_.enter(axis.var, axis.extent);
    }
    walk(kernel.body, [&](const For& loop) { ranges_.enter_also(loop); });
  }

  Stmt run(const Stmt& s) {
    if (const auto* seq = as<Seq>(s)) {
      Stmts statements;
      for (const Stmt& each : seq->statements) statements.push_back(run(each));
      return make_seq(std::move(statements));
    }
    if (const auto* n = as<Allocate>(s)) return make_allocate(n->buffer, run(n->body), n->location);
    if (const auto* loop = as<For>(s)) return run(*loop, s, Accesses(s, ranges_));
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
    for (SharedAccesses* pending : {&reads_, &writes_}) leave_loop(*pending, loop.var);
    const Stmt whole = make_for(loop.var, loop.extent, loop.loop, body, loop.location);
    return conflict ? make_seq({make_barrier(loop.location), whole}) : whole;
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
    for (const SharedAccess& access : accesses.reads) add(reads_, access);
    for (const SharedAccess& access : accesses.writes) add(writes_, access);
    return conflict ? make_seq({make_barrier(s->location), s}) : s;
  }

  arith::Ranges ranges_;           // of all variables of the kernel
  SharedAccesses reads_, writes_;  // since the last barrier
};

}  // namespace

void insert_barriers(Lowering& lowering) {
  for (Kernel& kernel : lowering.program.kernels) {
    const bool alone = kernel.block == std::array<int64_t, 3>{1, 1, 1};
    if (!alone) kernel.body = BarrierInserter(kernel).run(kernel.body);
  }
}

}  // namespace texloom::lower
