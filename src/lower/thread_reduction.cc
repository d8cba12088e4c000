#include "lower/thread_reduction.h"

#include <algorithm>
#include <optional>

#include "ir/visit.h"
#include "support/diagnostic.h"

namespace texloom::lower {

using namespace ir;  // the whole file speaks of IR nodes
using schedule::Stage;

namespace {

int64_t count_of(const std::vector<ThreadLoop>& threads) {
  int64_t count = 1;
  for (const ThreadLoop& t : threads) count *= t.extent;
  return count;
}

// The values of the variables that a predicate has for the tags; fails where it names others.
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
         "use the thread axes that its reduction axes are bound to",
         "the store predicate of '{}' speaks of {}, along which its elements are not repeated",
         stage.name(), v.name);
  });
  return values;
}

std::optional<int64_t> first_storing(const Stage& stage, const std::vector<ThreadLoop>& threads) {
  for (int64_t thread = 0; thread < count_of(threads); ++thread) {
    if (is_true(substitute(stage.predicate, values_of_tags(stage, threads, thread)))) return thread;
  }
  return std::nullopt;
}

}  // namespace

ThreadReduction::ThreadReduction(const Stage& stage, std::vector<ThreadLoop> loops_around,
                                 std::vector<ThreadLoop> sharing)
    : reducer(as<Reduce>(stage.op->body)->reducer),
      groups(std::move(loops_around)),
      threads(std::move(sharing)) {
  const Type type = stage.op->type;
  const SourceLocation& where = stage.op->location;
  part = make_buffer(stage.name() + ".part", type, {1}, MemoryScope::Local, where);
  std::vector<int64_t> shape;
  for (const ThreadLoop& group : groups) shape.push_back(group.extent);
  shape.push_back(count_of(threads));
  parts = make_buffer(stage.name() + ".parts", type, std::move(shape), MemoryScope::Shared, where);
}

Expr ThreadReduction::number() const {
  Expr number = make_int(0);
  for (const ThreadLoop& t : threads) number = number * t.extent + t.var;
  return number;
}

Exprs ThreadReduction::place(const Expr& thread) const {
  Exprs indices;
  for (const ThreadLoop& group : groups) indices.push_back(group.var);
  indices.push_back(thread);
  return indices;
}

Stmt ThreadReduction::inside_threads(Stmt body) const {
  for (auto t = threads.rbegin(); t != threads.rend(); ++t) {
    body = make_thread_for(t->var, make_int(t->extent), t->tag, std::move(body), t->location);
  }
  return body;
}

Stmt ThreadReduction::combination() const {
  const Expr own = number();
  Stmts steps{make_store(parts, place(own), make_load(part, {make_int(0)}), parts->location)};
  for (int64_t left = parts->shape.back(); left > 1;) {
    const int64_t half = (left + 1) / 2;
    const Expr mine = make_load(parts, place(own)), other = make_load(parts, place(own + half));
    const Expr both = substitute(reducer.result, {{reducer.lhs, mine}, {reducer.rhs, other}});
    steps.push_back(
        make_if(own < make_int(left - half), make_store(parts, place(own), both, parts->location)));
    left = half;
  }
  return inside_threads(make_seq(std::move(steps)));
}

Expr ThreadReduction::result() const { return make_load(parts, place(make_int(0))); }

Stmt ThreadReduction::stored(const Stage& stage, Stmt store) const {
  if (!stage.predicate) return store;
  const auto thread = first_storing(stage, threads);
  if (!thread) {
    fail(stage.predicate_location, Code::BadPredicate,
         "give a condition that one of the threads meets, such as tx.var.equal(0)",
         "the store predicate of '{}' holds for none of the threads, so that nothing is stored",
         stage.name());
  }
  const Expr chosen = make_binary(BinaryOp::Eq, number(), make_int(*thread));
  return inside_threads(make_if(chosen, std::move(store)));
}

}  // namespace texloom::lower
