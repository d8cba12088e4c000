#include "lower/inject_virtual_threads.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/program.h"
#include "ir/visit.h"
#include "support/diagnostic.h"

namespace texloom::lower {

using namespace ir;  // the whole file speaks of IR nodes

namespace {

constexpr int64_t kUnrolledBelow = 16;

// With one more axis in front, of which each index has an array of its own.
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
  // Loops, sequences and allocations are gone into, if the threads run them in step.
  bool is_entered(const Stmt& s) const {
    if (const auto* loop = as<For>(s)) return !differs(loop->extent);
    return s->kind == StmtKind::Seq || s->kind == StmtKind::Allocate;
  }

  // Each statement that is not gone into.
  template <class F>
  void for_each_leaf(const Stmt& s, const F& leaf) const {
    if (!is_entered(s)) return leaf(s);
    for_each_child(s, [](const Expr&) {}, [&](const Stmt& child) { for_each_leaf(child, leaf); });
  }

  // The local arrays inside whose contents differ from one thread to the next.
  void find_differing() {
    std::unordered_set<const BufferNode*> local;
    walk(loop_.body, [&](const Allocate& n) {
      if (n.buffer->memory == MemoryScope::Local) local.insert(n.buffer.get());
    });
    for (size_t known = 0, before = 1; before != known;) {
      before = differing_.size();
      for_each_leaf(loop_.body, [&](const Stmt& s) {
        if (!differs(s)) return;
        const auto written = [&](const Buffer& b) {
          if (local.contains(b.get())) differing_.insert(b.get());
        };
        walk(
            s, [&](const Store& n) { written(n.buffer); },
            [&](const Pointer& n) {
              if (writes(n.access)) written(n.buffer);
            });
      });
      known = differing_.size();
    }
  }

  bool differs(const Expr& e) const {
    bool found = false;
    walk(
        e, [&](const Var& n) { found = found || &n == loop_.var.get(); },
        [&](const Load& n) { found = found || differing_.contains(n.buffer.get()); },
        [&](const Pointer& n) { found = found || differing_.contains(n.buffer.get()); });
    return found;
  }
  bool differs(const Stmt& s) const {
    bool found = false;
    walk(
        s, [&](const Var& n) { found = found || &n == loop_.var.get(); },
        [&](const Load& n) { found = found || differing_.contains(n.buffer.get()); },
        [&](const Store& n) { found = found || differing_.contains(n.buffer.get()); },
        [&](const Pointer& n) { found = found || differing_.contains(n.buffer.get()); });
    return found;
  }

  Stmt moved_inwards(const Stmt& s) {
    if (!is_entered(s)) return differs(s) ? repeated(s) : s;
    if (const auto* n = as<Allocate>(s); n != nullptr && differing_.contains(n->buffer.get())) {
      copies_[n->buffer.get()] = replicated(n->buffer, *int_value(loop_.extent));
      return make_allocate(copies_.at(n->buffer.get()), moved_inwards(n->body), n->location);
    }
    return map_children(
        s, [](const Expr& e) { return e; },
        [&](const Stmt& child) { return moved_inwards(child); });
  }

  // A loop over the threads around one statement.
  Stmt repeated(const Stmt& s) const {
    const auto own = [&](const Exprs& indices) {
      Exprs all{loop_.var};
      all.insert(all.end(), indices.begin(), indices.end());
      return all;
    };
    const Stmt body = rewrite(
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
    const bool few = *int_value(loop_.extent) < kUnrolledBelow;
    return make_for(loop_.var, loop_.extent, few ? LoopKind::Unrolled : LoopKind::Serial, body,
                    loop_.location);
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
           "the number of virtual threads of the loop '{}' is no constant: {}", to_string(loop.var),
           to_string(loop.extent));
    }
    return Injector(loop).run();
  });
}

}  // namespace texloom::lower
