#include "lower/build/thread_reduction.h"

#include "ir/evaluation.h"
#include "ir/reducer.h"
#include "lower/build/store_predicate.h"

namespace texloom::lower {

using namespace ir;  // the whole file works on IR nodes
using schedule::Stage;
using schedule::StageBounds;
using schedule::ThreadLoop;

namespace {

int64_t count_of(const std::vector<ThreadLoop>& threads) {
  int64_t count = 1;
  for (const ThreadLoop& t : threads) count *= t.extent;
  return count;
}

// All threads start from the initial value and combine their parts, including threads whose point
// is outside the tensor: an operation that may fail there gives zero.
Reducer shared_reducer(const Reducer& of_stage, const StageBounds& b) {
  Reducer reducer = substitute(of_stage, b.index);
  Expr inside = make_bool(true);
  for (const Expr& guard : b.guards) inside = inside && guard;
  Failures failures;
  for (Exprs* parts : {&reducer.results, &reducer.identities}) {
    for (Expr& e : *parts) {
      if (failures.possible_in(e)) e = make_select(inside, e, make_const(0, e->type));
    }
  }
  return reducer;
}

}  // namespace

ThreadReduction::ThreadReduction(const Stage& stage, const StageBounds& bounds,
                                 std::vector<ThreadLoop> loops_around,
                                 std::vector<ThreadLoop> sharing)
    : reducer(shared_reducer(as<Reduce>(stage.op->body)->reducer, bounds)),
      groups(std::move(loops_around)),
      threads(std::move(sharing)) {
  const SourceLocation& where = stage.op->location;
  std::vector<int64_t> shape;
  for (const ThreadLoop& group : groups) shape.push_back(group.extent);
  shape.push_back(count_of(threads));
  for (const Tensor& t : schedule::outputs_of(stage.op)) {
    part.buffers.push_back(make_buffer(t->name + ".part", t->type, {1}, MemoryScope::Local, where));
    parts.buffers.push_back(
        make_buffer(t->name + ".parts", t->type, shape, MemoryScope::Shared, where));
  }
  part.indices = {make_int(0)};
  parts = of(number());
}

Expr ThreadReduction::number() const {
  Expr number = make_int(0);
  for (const ThreadLoop& t : threads) number = number * t.extent + t.var;
  return number;
}

ResultElement ThreadReduction::of(const Expr& thread) const {
  ResultElement element{parts.buffers, {}};
  for (const ThreadLoop& group : groups) element.indices.push_back(group.var);
  element.indices.push_back(thread);
  return element;
}

Stmt ThreadReduction::inside_threads(Stmt body) const {
  for (auto t = threads.rbegin(); t != threads.rend(); ++t) {
    body = make_thread_for(t->var, make_int(t->extent), t->tag, std::move(body), t->location);
  }
  return body;
}

Stmt ThreadReduction::combination() const {
  const SourceLocation& where = parts.buffers.front()->location;
  const Expr own = number();
  Stmts steps{stores(parts, loads(part, where), false, where)};
  for (int64_t left = parts.buffers.front()->shape.back(); left > 1;) {
    const int64_t half = (left + 1) / 2;
    const Exprs both = combined(reducer, loads(parts, where), loads(of(own + half), where));
    steps.push_back(make_if(own < make_int(left - half), stores(parts, both, true, where)));
    left = half;
  }
  return inside_threads(make_seq(std::move(steps)));
}

Exprs ThreadReduction::result() const {
  return loads(of(make_int(0)), parts.buffers.front()->location);
}

Stmt ThreadReduction::stored(const Stage& stage, Stmt store) const {
  if (!stage.predicate) return store;
  const Expr chosen = make_binary(BinaryOp::Eq, number(), make_int(first_storing(stage, threads)));
  return inside_threads(make_if(chosen, std::move(store)));
}

}  // namespace texloom::lower
