#include "codegen/llvm/thread_loops.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/arith/linear.h"
#include "ir/visit.h"
#include "support/check.h"

namespace texloom::codegen::native {

using namespace ir;  // the whole file works on IR nodes

namespace {

// Where the elements of an array are now: at `stride` times the thread's number, plus their index.
struct Place {
  Buffer array;
  int64_t stride = 0;
};

// A vector of this type with the scalar in every lane.
Expr lanes_of(const Expr& scalar, Type type) {
  const Expr value = make_cast(type.element(), scalar);
  return type.is_scalar() ? value : make_broadcast(value, type.lanes);
}

class ThreadLoops {
 public:
  explicit ThreadLoops(const Kernel& kernel) {
    for (const ThreadAxis& axis : kernel.axes) {
      if (!axis.tag.block) threads_.push_back(axis);
    }
    thread_ = make_int(0);
    for (auto axis = threads_.rbegin(); axis != threads_.rend(); ++axis) {
      thread_ = thread_ * *int_value(axis->extent) + make_cast(kInt32, axis->var);
      first_[axis->var] = make_int(0, axis->var->type);
      count_ *= *int_value(axis->extent);
    }
  }

  Stmt run(const Stmt& body) { return of_block(body); }

 private:
  // A statement that the block runs once.
  Stmt of_block(const Stmt& s) {
    if (!contains<Barrier>(s)) return of_threads(s);
    if (s->kind == StmtKind::Barrier) return make_empty();
    if (const auto* seq = as<Seq>(s)) return of_sequence(*seq);
    if (const auto* let = as<Let>(s)) return of_let(*let);
    if (const auto* allocation = as<Allocate>(s)) return of_allocation(*allocation);
    TL_CHECK(s->kind == StmtKind::For || s->kind == StmtKind::If || s->kind == StmtKind::While);
    return map_children(
        s, [&](const Expr& e) { return of_first_thread(e); },
        [&](const Stmt& child) { return of_block(child); });
  }

  // Joins neighbors without barriers, so that one loop runs all of them.
  Stmt of_sequence(const Seq& seq) {
    Stmts made, together;
    const auto finish = [&] {
      if (!together.empty()) made.push_back(of_threads(make_seq(std::exchange(together, {}))));
    };
    for (const Stmt& each : seq.statements) {
      if (!contains<Barrier>(each)) {
        together.push_back(each);
        continue;
      }
      finish();
      made.push_back(of_block(each));
    }
    finish();
    return make_seq(std::move(made));
  }

  Stmt of_let(const Let& let) {
    if (!arith::reads_memory(let.value))
      return of_block(substitute(let.body, {{let.var, let.value}}));
    // The value must be that of the place of the definition.
    const Type type = let.var->type;
    const Buffer values = make_buffer(as<Var>(let.var)->name, type.element(), {count_ * type.lanes},
                                      MemoryScope::Local, let.location);
    const Expr index = thread_ * type.lanes;
    const Exprs place{type.is_scalar() ? index : make_ramp(index, make_int(1), type.lanes)};
    const Stmt store = in_loops(make_store(values, place, at_places(let.value), let.location));
    const Stmt body = of_block(substitute(let.body, {{let.var, make_load(values, place)}}));
    return make_allocate(values, make_seq({store, body}), let.location);
  }

  Stmt of_allocation(const Allocate& allocation) {
    const Buffer& old = allocation.buffer;
    const int64_t elements = old->layout.col_count();
    const bool is_shared = old->memory == MemoryScope::Shared;
    const Buffer array =
        make_buffer(old->name, old->type, {is_shared ? elements : elements * count_},
                    MemoryScope::Local, old->location);
    places_[old.get()] = {array, is_shared ? 0 : elements};
    return make_allocate(array, of_block(allocation.body), allocation.location);
  }

  // Runs a statement without barriers in all threads.
  Stmt of_threads(const Stmt& s) { return in_loops(at_places(without_shared(s))); }

  Stmt in_loops(Stmt body) const {
    const SourceLocation location = body->location;
    for (const ThreadAxis& axis : threads_)
      body = make_for(axis.var, axis.extent, LoopKind::Serial, std::move(body), location);
    return body;
  }

  // Shared arrays that no barrier separates are arrays of a thread: only that thread uses them.
  static Stmt without_shared(const Stmt& s) {
    std::unordered_map<const BufferNode*, Place> own;
    walk_statements(s, [&](const Allocate& n) {
      if (n.buffer->memory != MemoryScope::Shared) return;
      own[n.buffer.get()] = {make_buffer(n.buffer->name, n.buffer->type,
                                         {n.buffer->layout.col_count()}, MemoryScope::Local,
                                         n.buffer->location)};
    });
    return own.empty() ? s : moved(s, own, make_int(0));
  }

  Expr of_first_thread(const Expr& e) const { return substitute(at_places(e), first_); }

  template <class Handle>
  Handle at_places(const Handle& x) const {
    return places_.empty() ? x : moved(x, places_, thread_);
  }

  // Makes accesses go to the new places of arrays.
  template <class Handle>
  static Handle moved(const Handle& x, const std::unordered_map<const BufferNode*, Place>& places,
                      const Expr& thread) {
    const auto index_in = [&](const Place& place, const Expr& index) {
      if (place.stride == 0) return index;
      const Expr first = thread * place.stride;
      if (const auto* ramp = as<Ramp>(index)) {
        return make_ramp(ramp->base + lanes_of(first, ramp->base->type), ramp->stride,
                         index->type.lanes);
      }
      return index + lanes_of(first, index->type);
    };
    const auto place_of = [&](const Buffer& buffer) -> const Place* {
      const auto found = places.find(buffer.get());
      return found == places.end() ? nullptr : &found->second;
    };
    const auto load = [&](const Load& n, const Expr& self) {
      const Place* place = place_of(n.buffer);
      if (place == nullptr) return self;
      return make_load_as(n.type, place->array, {index_in(*place, n.indices.front())}, n.location);
    };
    if constexpr (std::is_same_v<Handle, Expr>) {
      return rewrite(x, load);
    } else {
      return rewrite(
          x, load,
          [&](const Store& n, const Stmt& self) {
            const Place* place = place_of(n.buffer);
            if (place == nullptr) return self;
            return make_store(place->array, {index_in(*place, n.indices.front())}, n.value,
                              n.location);
          },
          [&](const Allocate& n, const Stmt& self) {
            const Place* place = place_of(n.buffer);
            return place == nullptr ? self : make_allocate(place->array, n.body, n.location);
          });
    }
  }

  std::vector<ThreadAxis> threads_;
  Expr thread_;         // the number of the thread in its block
  Substitution first_;  // the axes in the first thread
  int64_t count_ = 1;   // the threads of a block
  std::unordered_map<const BufferNode*, Place> places_;
};

}  // namespace

void run_threads_in_loops(Kernel& kernel) {
  TL_CHECK(!contains<Shuffle>(kernel.body));
  kernel.body = ThreadLoops(kernel).run(kernel.body);
  std::erase_if(kernel.axes, [](const ThreadAxis& axis) { return !axis.tag.block; });
  kernel.block = {1, 1, 1};
}

}  // namespace texloom::codegen::native
