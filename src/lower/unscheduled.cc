#include "lower/unscheduled.h"

#include <algorithm>
#include <unordered_set>

#include "ir/visit.h"
#include "lower/places.h"

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
    std::unordered_set<StageId> wanted;
    for (const Argument& argument : lowering_.arguments) {
      const Tensor& tensor = argument.tensor;
      p.params.push_back(buffer_for(tensor));
      const auto id = s_.find(operation_of(tensor));
      if (!id) continue;
      wanted.insert(*id);
      own_buffers(*id)[static_cast<size_t>(tensor->output)] = p.params.back();
    }
    // Readers first: what nobody asks for, such as a cache, is not computed.
    Stmt body = make_empty();
    for (auto id = s_.order().rbegin(); id != s_.order().rend(); ++id) {
      const Operation& op = *s_.stage(*id).origin;
      if (!wanted.contains(*id) && !s_.stage(*id).is_output) continue;
      for (const Tensor& input : op.inputs) want(s_.producer(input), wanted);
      want(*id, wanted);
      if (!op.is_placeholder()) {
        body = make_seq({make_nest(buffers(*id).front(), nest(*id, op), op.location), body});
      }
      for (const Buffer& own : buffers(*id)) {
        const auto same = [&](const Buffer& param) { return param.same_as(own); };
        if (std::any_of(p.params.begin(), p.params.end(), same)) continue;
        body = make_allocate(own, body, op.location);
      }
    }
    p.body = body;
    return p;
  }

 private:
  static Buffer buffer_for(const Tensor& t) {
    return make_buffer(t->name, t->type, constant_shape(t->shape, t->name, t->location),
                       MemoryScope::Global, t->location);
  }
  // One for each output.
  const std::vector<Buffer>& buffers(StageId id) const { return buffers_[static_cast<size_t>(id)]; }
  std::vector<Buffer>& own_buffers(StageId id) {
    std::vector<Buffer>& own = buffers_[static_cast<size_t>(id)];
    own.resize(s_.stage(id).origin->types.size());
    return own;
  }

  void want(StageId id, std::unordered_set<StageId>& wanted) {
    wanted.insert(id);
    for (const Tensor& t : outputs_of(s_.stage(id).origin)) {
      Buffer& own = own_buffers(id)[static_cast<size_t>(t->output)];
      if (!own) own = buffer_for(t);
    }
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
    Substitution axes;
    const std::vector<Loop> loops = loops_over(op.axes, axes);
    Place place{buffers(id), {}};
    for (const Loop& loop : loops) place.indices.push_back(loop.var);
    const auto* reduce = as<Reduce>(op.body);
    if (reduce == nullptr) {
      return inside(loops, stores(place, reads(values_of(op.body), axes), false, op.location));
    }
    const Reducer& reducer = reduce->reducer;
    const Exprs first = reduce->init.empty() ? reducer.identities : reads(reduce->init, axes);
    const std::vector<Loop> steps = loops_over(reduce->axes, axes);
    const Exprs values = combined(reducer, loads(place, op.location), reads(reduce->sources, axes));
    Stmt step = stores(place, values, true, op.location);
    if (reduce->condition) {
      step = make_if(reads(reduce->condition, axes), std::move(step), op.location);
    }
    return inside(loops, make_seq({stores(place, first, false, op.location),
                                   inside(steps, std::move(step))}));
  }

  // The expression with the axes' values, reading buffers.
  Expr reads(const Expr& e, const Substitution& values) const {
    return rewrite(substitute(e, values), [&](const TensorRead& n, const Expr&) {
      Exprs indices = n.indices;
      for (Expr& index : indices) {
        if (index->type != kInt32) index = make_cast(kInt64, index);
      }
      const Buffer& own = buffers(s_.producer(n.tensor))[static_cast<size_t>(n.tensor->output)];
      return make_load(own, std::move(indices), n.location);
    });
  }
  Exprs reads(const Exprs& list, const Substitution& values) const {
    Exprs result;
    for (const Expr& e : list) result.push_back(reads(e, values));
    return result;
  }

  const Lowering& lowering_;
  const Schedule& s_;
  std::vector<std::vector<Buffer>> buffers_;  // by stage id
};

}  // namespace

Program unscheduled_program(const Lowering& lowering) { return Builder(lowering).program(); }

}  // namespace texloom::lower
