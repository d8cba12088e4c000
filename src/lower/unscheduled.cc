#include "lower/unscheduled.h"

#include <unordered_set>

#include "ir/visit.h"

namespace texloom::lower {

using namespace ir;        // the whole file speaks of IR nodes
using namespace schedule;  // and of a schedule's stages
using schedule::Stage;     // not the pipeline's

namespace {

class Builder {
 public:
  explicit Builder(const Lowering& lowering) : lowering_(lowering), s_(lowering.schedule) {
    buffers_.resize(s_.order().size());
  }

  Program program() {
    Program p;
    p.name = lowering_.program.name;
    p.stage = ir::Stage::Loops;
    std::unordered_set<StageId> params;
    for (const Argument& argument : lowering_.arguments) {
      const Op op = operation_of(argument.tensor);
      p.params.push_back(buffer_for(*op));
      const auto id = s_.find(op);
      if (!id) continue;
      params.insert(*id);
      buffers_[static_cast<size_t>(*id)] = p.params.back();
    }
    // Readers first: what nobody asks for, such as a cache, is not computed.
    std::unordered_set<StageId> wanted = params;
    Stmt body = make_empty();
    for (auto id = s_.order().rbegin(); id != s_.order().rend(); ++id) {
      const Operation& op = *s_.stage(*id).origin;
      if (!wanted.contains(*id) && !s_.stage(*id).is_output) continue;
      for (const Tensor& input : op.inputs) want(s_.producer(input), wanted);
      want(*id, wanted);
      if (!op.is_placeholder()) {
        body = make_seq({make_nest(buffer(*id), nest(*id, op), op.location), body});
      }
      if (!params.contains(*id)) body = make_allocate(buffer(*id), body, op.location);
    }
    p.body = body;
    return p;
  }

 private:
  static Buffer buffer_for(const Operation& op) {
    return make_buffer(op.name, op.type, constant_shape(op.shape, op.name, op.location),
                       MemoryScope::Global, op.location);
  }
  const Buffer& buffer(StageId id) const { return buffers_[static_cast<size_t>(id)]; }

  void want(StageId id, std::unordered_set<StageId>& wanted) {
    wanted.insert(id);
    Buffer& own = buffers_[static_cast<size_t>(id)];
    if (!own) own = buffer_for(*s_.stage(id).origin);
  }

  struct Loop {
    Expr var;
    int64_t extent;
    SourceLocation location;
  };
  static Stmt inside(const std::vector<Loop>& loops, Stmt body) {
    for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
      body = make_for(loop->var, make_int(loop->extent), LoopKind::Serial, std::move(body),
                      loop->location);
    }
    return body;
  }
  // Loops over the axes; `values` gets the axes' variables.
  static std::vector<Loop> loops_over(const std::vector<IterVar>& axes, Substitution& values) {
    std::vector<Loop> loops;
    for (const IterVar& axis : axes) {
      const int64_t extent = constant_shape({axis->extent}, axis->name(), axis->location).front();
      loops.push_back({make_var(axis->name()), extent, axis->location});
      const Expr value = make_cast(axis->var->type, loops.back().var);
      values.emplace(axis->var, value + make_cast(axis->var->type, axis->min));
    }
    return loops;
  }

  Stmt nest(StageId id, const Operation& op) const {
    Substitution values;
    const std::vector<Loop> loops = loops_over(op.axes, values);
    Exprs index;
    for (const Loop& loop : loops) index.push_back(loop.var);
    const auto store = [&](const Expr& value) {
      return make_store(buffer(id), index, value, op.location);
    };
    const auto* reduce = as<Reduce>(op.body);
    if (reduce == nullptr) return inside(loops, store(reads(op.body, values)));

    const std::vector<Loop> steps = loops_over(reduce->axes, values);
    const Reducer& reducer = reduce->reducer;
    const Expr partial = make_load(buffer(id), index, op.location);
    Stmt step = store(substitute(
        reducer.result, {{reducer.lhs, partial}, {reducer.rhs, reads(reduce->source, values)}}));
    if (reduce->condition) {
      step = make_if(reads(reduce->condition, values), std::move(step), op.location);
    }
    return inside(loops, make_seq({store(reducer.identity), inside(steps, std::move(step))}));
  }

  // The expression with the axes' values, reading buffers.
  Expr reads(const Expr& e, const Substitution& values) const {
    return rewrite(substitute(e, values), [&](const TensorRead& n, const Expr&) {
      Exprs indices = n.indices;
      for (Expr& index : indices) {
        if (index->type != kInt32) index = make_cast(kInt64, index);
      }
      return make_load(buffer(s_.producer(n.tensor)), std::move(indices), n.location);
    });
  }

  const Lowering& lowering_;
  const Schedule& s_;
  std::vector<Buffer> buffers_;  // by stage id
};

}  // namespace

Program unscheduled_program(const Lowering& lowering) { return Builder(lowering).program(); }

}  // namespace texloom::lower
