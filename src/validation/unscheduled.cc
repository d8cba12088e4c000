#include "validation/unscheduled.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/arith/simplify.h"
#include "ir/reducer.h"
#include "ir/visit.h"
#include "lower/build/stage_results.h"
#include "lower/schedule/check_symbols.h"
#include "schedule/operation/extern_operation.h"
#include "schedule/operation/scan_operation.h"

namespace texloom::validation {

using namespace ir;        // the whole file works on IR nodes
using namespace schedule;  // the whole file also works on stages
using namespace lower;     // the whole file also works on the input of lowering

namespace {

class Builder {
 public:
  explicit Builder(const Lowering& lowering) : lowering_(lowering), s_(lowering.schedule) {
    buffers_.resize(s_.order().size());
  }

  Program program() {
    Program p;
    p.name = lowering_.program.name;
    p.stage = ir::ProgramStage::Loops;
    p.symbols = symbols_of(lowering_);
    std::unordered_set<StageId> wanted;
    for (const Argument& argument : lowering_.arguments) {
      const Tensor& tensor = argument.tensor;
      p.params.push_back(buffer_for(tensor));
      const auto id = s_.find(operation_of(tensor));
      if (!id) continue;
      wanted.insert(*id);
      own_buffers(*id)[static_cast<size_t>(tensor->output)] = p.params.back();
    }
    // Visits readers before the stages that they read, so that a stage that nothing reads, such as
    // a cache, is not computed.
    Stmts roots;
    for (auto id = s_.order().rbegin(); id != s_.order().rend(); ++id) {
      const Operation& op = *s_.stage(*id).origin;
      if (!wanted.contains(*id) && !s_.stage(*id).is_output) continue;
      for (const Tensor& input : op.inputs) want(s_.producer(input), wanted);
      want(*id, wanted);
      if (op.is_scan()) want_steps(*id, op, wanted);
      // The nest of a scan computes the stages of its steps; a state is its result.
      const bool in_scan = s_.stage(*id).scan >= 0;
      if (in_scan && op.is_placeholder()) continue;
      if (!op.is_placeholder() && !in_scan) roots.push_back(root(*id, op));
      for (const Buffer& own : buffers(*id)) {
        const auto same = [&](const Buffer& param) { return param.same_as(own); };
        if (std::any_of(p.params.begin(), p.params.end(), same)) continue;
        p.temporaries.push_back(own);
      }
    }
    for (const auto& [buffer, outside] : outside_) p.temporaries.push_back(outside);
    p.body = make_seq({roots.rbegin(), roots.rend()});
    return p;
  }

 private:
  static Buffer buffer_for(const Tensor& t) {
    return make_array(t->name, t->type, extents_of(t->shape, t->name, t->location), t->location);
  }
  // The buffers of the stage, one for each output.
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

  // Adds all stages that the steps compute and read; reads of a state see the results of earlier
  // steps.
  void want_steps(StageId id, const Operation& scan, std::unordered_set<StageId>& wanted) {
    for (const Op& op : step_of(scan).operations) {
      want(*s_.find(op), wanted);
      for (const Tensor& input : op->inputs) want(s_.producer(input), wanted);
    }
    for (size_t i = 0; i < scan.states.size(); ++i) {
      own_buffers(s_.producer(scan.states[i].state)).front() = buffers(id)[i];
    }
  }

  Stmt root(StageId id, const Operation& op) {
    if (op.is_compute()) return make_nest(buffers(id).front(), nest(id, op, {}), op.location);
    if (op.is_scan()) return make_nest(buffers(id).front(), steps(id, op), op.location);
    std::vector<Buffer> reads;
    for (const ExternInput& input : op.reads) reads.push_back(buffer_of(input.tensor));
    return nests_of(op, reads, buffers(id));
  }
  const Buffer& buffer_of(const Tensor& t) const {
    return buffers(s_.producer(t))[static_cast<size_t>(t->output)];
  }

  // Computes the rows of the inits; then each step computes the next rows.
  Stmt steps(StageId id, const Operation& scan) {
    const IterVar& axis = scan.scan_axis;
    const Expr step = make_var(axis->name());
    const Expr extent = extents_of({axis->extent}, axis->name(), axis->location).front();
    set_range(step, extent);
    const ScanStep computed = step_of(scan);
    Substitution rows;
    for (const Op& op : computed.operations) {
      for (const IterVar& own : op->axes) {
        if (!computed.rows.contains(own->var.get())) continue;
        rows.emplace(own->var, make_cast(own->var->type, axis->min + step));
      }
    }
    Stmts before, each;
    for (const Op& op : computed.operations) each.push_back(nest(*s_.find(op), *op, rows));
    for (size_t i = 0; i < scan.states.size(); ++i) {
      const Buffer& result = buffers(id)[i];
      const ScanState& state = scan.states[i];
      const SourceLocation& where = scan.location;
      before.push_back(copied(buffer_of(state.init), result, state.init->shape, {}, where));
      each.push_back(
          copied(buffer_of(state.update), result, state.update->shape, axis->min + step, where));
    }
    before.push_back(make_for(step, extent, LoopKind::Serial, make_seq(each), axis->location));
    return make_seq(std::move(before));
  }

  // Copies the given row, or all rows if `row` is null.
  static Stmt copied(const Buffer& from, const Buffer& to, const Exprs& shape, const Expr& row,
                     const SourceLocation& where) {
    std::vector<Loop> loops;
    Exprs indices;
    if (row) indices.push_back(row);
    for (size_t i = indices.size(); i < shape.size(); ++i) {
      const Expr extent = extents_of({shape[i]}, to->name, where).front();
      loops.push_back({make_var(fmt::format("i{}", i)), extent, where});
      indices.push_back(loops.back().var);
    }
    return inside(loops, make_store(to, indices, make_load(from, indices, where), where));
  }

  struct Loop {
    Expr var;
    Expr extent;
    SourceLocation location;
  };
  static Stmt inside(const std::vector<Loop>& loops, Stmt body) {
    for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
      body = make_for(loop->var, loop->extent, LoopKind::Serial, std::move(body), loop->location);
    }
    return body;
  }
  void set_range(const Expr& var, const Expr& extent) {
    const int64_t* steps = int_value(extent);
    ranges_.set(var, {0, steps == nullptr ? arith::Interval::kNone : *steps - 1});
  }
  // Makes loops over the axes; adds their variables to `values`.
  std::vector<Loop> loops_over(const std::vector<IterVar>& axes, Substitution& values) {
    std::vector<Loop> loops;
    for (const IterVar& axis : axes) {
      const Expr extent = extents_of({axis->extent}, axis->name(), axis->location).front();
      loops.push_back({make_var(axis->name()), extent, axis->location});
      set_range(loops.back().var, extent);
      const Expr value = make_cast(axis->var->type, loops.back().var);
      values.emplace(axis->var, value + make_cast(axis->var->type, axis->min));
    }
    return loops;
  }

  // `axes` gives values for the axes that have no loop here.
  Stmt nest(StageId id, const Operation& op, Substitution axes) {
    ResultElement element{buffers(id), {}};
    std::vector<Loop> loops;
    for (const IterVar& axis : op.axes) {
      const auto given = axes.find(axis->var);
      if (given != axes.end()) {
        element.indices.push_back(as_index(given->second));
      } else {
        loops.push_back(loops_over({axis}, axes).front());
        element.indices.push_back(loops.back().var);
      }
    }
    const auto* reduce = as<Reduce>(op.body);
    if (reduce == nullptr) {
      return inside(loops, stores(element, reads(values_of(op.body), axes), false, op.location));
    }
    const Reducer reducer = substitute(reduce->reducer, axes);
    const Exprs first = reduce->init.empty() ? reducer.identities : reads(reduce->init, axes);
    const std::vector<Loop> steps = loops_over(reduce->axes, axes);
    const Exprs values =
        combined(reducer, loads(element, op.location), reads(reduce->sources, axes));
    Stmt step = stores(element, values, true, op.location);
    if (reduce->condition) {
      step = make_if(reads(reduce->condition, axes), std::move(step), op.location);
    }
    return inside(loops, make_seq({stores(element, first, false, op.location),
                                   inside(steps, std::move(step))}));
  }

  static Expr as_index(const Expr& e) { return e->type == kInt32 ? e : make_cast(kInt64, e); }

  // The expression with the values of the axes, and with reads of tensors replaced by loads from
  // buffers. Values read outside of a tensor are undefined, and so are elements computed from them.
  Expr reads(const Expr& e, const Substitution& values) {
    return rewrite(substitute(e, values), [&](const TensorRead& n, const Expr&) {
      const Buffer& buffer = buffer_of(n.tensor);
      const Expr inside = is_inside(n), load = make_load(buffer, n.indices, n.location);
      if (is_true(inside)) return load;
      return make_select(inside, load, make_load(outside_of(buffer), {make_int(0)}, n.location));
    });
  }
  Exprs reads(const Exprs& list, const Substitution& values) {
    Exprs result;
    for (const Expr& e : list) result.push_back(reads(e, values));
    return result;
  }

  // The condition that the indices are inside the tensor, without the parts that are known to hold.
  Expr is_inside(const TensorRead& n) const {
    Expr inside = make_bool(true);
    const Exprs extents = extents_of(n.tensor->shape, n.tensor->name, n.tensor->location);
    for (size_t i = 0; i < extents.size(); ++i) {
      const Expr index = make_cast(kInt64, n.indices[i]), end = make_cast(kInt64, extents[i]);
      for (const Expr& each : {index >= make_int(0, kInt64), index < end}) {
        if (!arith::prove(each, ranges_)) inside = inside && each;
      }
    }
    return inside;
  }

  // A buffer with one element that is never written, which replaces the elements outside of
  // `buffer`.
  const Buffer& outside_of(const Buffer& buffer) {
    for (const auto& [known, outside] : outside_) {
      if (known.same_as(buffer)) return outside;
    }
    const std::string name = buffer->name + ".outside";
    outside_.emplace_back(buffer, make_array(name, buffer->type, {make_int(1)}, buffer->location));
    return outside_.back().second;
  }

  const Lowering& lowering_;
  const Schedule& s_;
  std::vector<std::vector<Buffer>> buffers_;  // by stage id
  std::vector<std::pair<Buffer, Buffer>> outside_;
  arith::Ranges ranges_;  // the ranges of loop variables
};

}  // namespace

Program unscheduled_program(const Lowering& lowering) { return Builder(lowering).program(); }

}  // namespace texloom::validation
