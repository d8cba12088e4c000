#include "lower/loops/inject_virtual_threads.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/accesses.h"
#include "ir/program.h"
#include "ir/visit.h"
#include "support/diagnostic.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes

namespace {

constexpr int64_t kUnrolledBelow = 16;

// The buffer with an additional first axis: one array for each of its indices.
Buffer replicated(const Buffer& buffer, int64_t copies) {
  Layout layout = buffer->layout;
  layout.shape.insert(layout.shape.begin(), copies);
  for (LayoutPart& part : layout.cols) ++part.axis;
  layout.cols.insert(layout.cols.begin(), LayoutPart{0, 1, copies});
  return make_buffer_with_layout(buffer->name, buffer->type, std::move(layout), buffer->memory,
                                 buffer->location);
}

class Injector {
 public:
  explicit Injector(const For& loop) : loop_(loop) { find_differing(); }

  Stmt run() { return moved_inwards(loop_.body); }

 private:
  // Whether to descend into the statement: loops, sequences and allocations that the threads run in
  // step.
  bool is_entered(const Stmt& s) const {
    if (const auto* loop = as<For>(s)) return !differs(loop->extent);
    return s->kind == StmtKind::Seq || s->kind == StmtKind::Allocate;
  }

  // Calls the function for each statement that is not entered.
  template <class F>
  void for_each_leaf(const Stmt& s, const F& leaf) const {
    if (!is_entered(s)) return leaf(s);
    for_each_child(s, [](const Expr&) {}, [&](const Stmt& child) { for_each_leaf(child, leaf); });
  }

  // Finds the local arrays in the loop that hold different values for different threads.
  void find_differing() {
    std::unordered_set<const BufferNode*> local;
    walk(loop_.body, [&](const Allocate& n) {
      if (is_private(n.buffer->memory)) local.insert(n.buffer.get());
    });
    for (size_t known = 0, before = 1; before != known;) {
      before = differing_.size();
      for_each_leaf(loop_.body, [&](const Stmt& s) {
        if (!differs(s)) return;
        for_each_access(s, [&](const BufferAccess& n) {
          if (n.writes() && local.contains(n.buffer.get())) differing_.insert(n.buffer.get());
        });
      });
      known = differing_.size();
    }
  }

  // Whether an expression or a statement differs between virtual threads.
  template <class Handle>
  bool differs(const Handle& x) const {
    return uses_var(x, loop_.var) || any_access(x, [&](const BufferAccess& n) {
             return differing_.contains(n.buffer.get());
           });
  }

  // Whether all virtual threads store the same elements of shared arrays, and therefore equal
  // values, even if each thread loads them from its own arrays. Such a statement runs once: if it
  // were repeated, an update would add the value of every thread.
  bool stores_same(const Stmt& s) const {
    if (const auto* n = as<If>(s)) return !differs(n->condition) && stores_same(n->then);
    if (const auto* n = as<Seq>(s)) {
      return std::all_of(n->statements.begin(), n->statements.end(),
                         [&](const Stmt& each) { return stores_same(each); });
    }
    const auto* n = as<Store>(s);
    return n != nullptr && n->buffer->memory == MemoryScope::Shared &&
           !uses_var(n->value, loop_.var) &&
           std::none_of(n->indices.begin(), n->indices.end(),
                        [&](const Expr& index) { return differs(index); });
  }

  Stmt moved_inwards(const Stmt& s) {
    if (!is_entered(s)) {
      if (!differs(s)) return s;
      return stores_same(s) ? substitute(at_own_copies(s), {{loop_.var, make_int(0)}})
                            : repeated(s);
    }
    if (const auto* n = as<Allocate>(s); n != nullptr && differing_.contains(n->buffer.get())) {
      copies_[n->buffer.get()] = replicated(n->buffer, *int_value(loop_.extent));
      return make_allocate(copies_.at(n->buffer.get()), moved_inwards(n->body), n->location);
    }
    return map_children(
        s, [](const Expr& e) { return e; },
        [&](const Stmt& child) { return moved_inwards(child); });
  }

  // Puts a loop over the threads around one statement.
  Stmt repeated(const Stmt& s) const {
    const bool few = *int_value(loop_.extent) < kUnrolledBelow;
    return make_for(loop_.var, loop_.extent, few ? LoopKind::Unrolled : LoopKind::Serial,
                    at_own_copies(s), loop_.location);
  }

  // Makes the statement access the arrays of the thread that the loop runs.
  Stmt at_own_copies(const Stmt& s) const {
    const auto own = [&](const Exprs& indices) {
      Exprs all{loop_.var};
      all.insert(all.end(), indices.begin(), indices.end());
      return all;
    };
    return rewrite(
        s,
        [&](const Load& n, const Expr& self) {
          const auto copy = copies_.find(n.buffer.get());
          if (copy == copies_.end()) return self;
          return make_load(copy->second, own(n.indices), n.location);
        },
        [&](const Pointer& n, const Expr& self) {
          const auto copy = copies_.find(n.buffer.get());
          if (copy == copies_.end()) return self;
          Exprs extents{make_int(1)};
          extents.insert(extents.end(), n.extents.begin(), n.extents.end());
          return make_pointer(n.access, copy->second, own(n.indices), std::move(extents), n.offset,
                              n.location);
        },
        [&](const Store& n, const Stmt& self) {
          const auto copy = copies_.find(n.buffer.get());
          if (copy == copies_.end()) return self;
          return make_store(copy->second, own(n.indices), n.value, n.location);
        });
  }

  const For& loop_;
  std::unordered_set<const BufferNode*> differing_;
  std::unordered_map<const BufferNode*, Buffer> copies_;
};

}  // namespace

void inject_virtual_threads(Lowering& lowering) {
  lowering.program.body = rewrite(lowering.program.body, [](const For& loop, const Stmt& self) {
    if (loop.loop != LoopKind::Virtual) return self;
    if (int_value(loop.extent) == nullptr) {
      fail(loop.location, Code::ThreadExtentMismatch, "give the loop a constant extent",
           "the number of virtual threads of the loop '{}' is not constant: {}",
           to_string(loop.var), to_string(loop.extent));
    }
    return Injector(loop).run();
  });
}

}  // namespace texloom::lower
