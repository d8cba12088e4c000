#include "schedule/operation/tensor_intrinsic.h"

#include <algorithm>
#include <optional>

#include "ir/arith/simplify.h"
#include "ir/visit.h"
#include "schedule/operation/buffer_statement.h"
#include "support/diagnostic.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

namespace {

// The variables of strides and offsets, each once.
Exprs view_variables(const TensorIntrinsicNode& intrinsic) {
  Exprs variables;
  const auto add = [&](const Expr& e) {
    if (!e || as<Var>(e) == nullptr) return;
    const bool known = std::any_of(variables.begin(), variables.end(),
                                   [&](const Expr& v) { return v.same_as(e); });
    if (!known) variables.push_back(e);
  };
  for (const auto* views : {&intrinsic.inputs, &intrinsic.outputs}) {
    for (const TensorView& view : *views) {
      for (const Expr& stride : view.strides) add(stride);
      add(view.offset);
    }
  }
  return variables;
}

class IntrinsicChecker {
 public:
  explicit IntrinsicChecker(const TensorIntrinsicNode& intrinsic) : own_(intrinsic) {}

  void run() const {
    check_computation();
    const Operation& op = *own_.computation;
    check_views(own_.inputs, op.inputs);
    check_views(own_.outputs, outputs_of(own_.computation));
    check_scalars();
    check_regions();
    const auto& [body, reset, update] = own_.statements;
    for (const Stmt& s : {body, reset, update}) {
      if (s) check_statement(s);
    }
    if (update && op.reduce_axes.empty()) {
      wrong(own_.location, "return only the body", "it has an update, but reduces over nothing");
    }
  }

 private:
  [[noreturn]] void wrong(const SourceLocation& where, std::string help,
                          const std::string& problem) const {
    fail(where.known() ? where : own_.location, Code::BadIntrinsic, std::move(help),
         "tensor intrinsic '{}': {}", own_.name, problem);
  }
  void refuse(const std::optional<StatementProblem>& problem) const {
    if (problem) wrong(problem->location, problem->help, problem->text);
  }

  void check_computation() const {
    const Operation& op = *own_.computation;
    const bool of_inputs =
        op.is_compute() && std::all_of(op.inputs.begin(), op.inputs.end(), [](const Tensor& t) {
          return operation_of(t)->is_placeholder();
        });
    if (!of_inputs) {
      wrong(op.location, "make its inputs with te.placeholder and read them in one te.compute",
            fmt::format("'{}' is not a compute that reads only placeholders", op.name));
    }
    constant_shape(op.shape, op.name, op.location);
    for (const IterVar& axis : op.reduce_axes) {
      constant_shape({axis->extent}, axis->name(), axis->location);
      if (is_int(axis->min, 0)) continue;
      wrong(axis->location, "begin it at 0",
            fmt::format("the axis '{}' does not begin at 0", axis->name()));
    }
    const auto* reduce = as<Reduce>(op.body);
    if (reduce == nullptr || reduce->init.empty()) return;
    wrong(op.location, "leave init= out", "its reduction has initial values");
  }

  void check_views(const std::vector<TensorView>& views, const std::vector<Tensor>& tensors) const {
    if (views.size() != tensors.size()) {
      wrong({}, "give one buffer for each tensor", "it has more or fewer buffers than tensors");
    }
    for (size_t i = 0; i < views.size(); ++i) {
      refuse(find_problem(views[i].buffer, tensors[i], tensors[i]->location));
      check_strides(views[i]);
    }
  }

  void check_strides(const TensorView& view) const {
    const BufferNode& b = *view.buffer;
    if (!view.strides.empty() && view.strides.size() != b.shape.size()) {
      wrong(b.location, "give one stride for each axis",
            fmt::format("the buffer '{}' has {} axes and {} strides", b.name, b.shape.size(),
                        view.strides.size()));
    }
    const auto is_var = [](const Expr& e) { return as<Var>(e) != nullptr && e->type == kInt32; };
    const bool known = std::all_of(view.strides.begin(), view.strides.end(), [&](const Expr& e) {
      return is_var(e) || int_value(e) != nullptr;
    });
    if (known && (!view.offset || is_var(view.offset))) return;
    wrong(b.location, "give constants for strides, or variables: te.var(\"stride\")",
          fmt::format("a stride or the offset of '{}' is an expression", b.name));
  }

  void check_scalars() const {
    const Exprs used = scalars_in(*own_.computation);
    const auto count = [](const Exprs& list, const Expr& e) {
      return std::count_if(list.begin(), list.end(), [&](const Expr& v) { return v.same_as(e); });
    };
    for (const Expr& scalar : own_.scalars) {
      if (as<Var>(scalar) == nullptr || !scalar->type.is_scalar()) {
        wrong({}, "make each scalar by te.var(\"s\", \"float32\")",
              fmt::format("its scalar {} is not a variable of a scalar type", to_string(scalar)));
      }
      if (count(own_.scalars, scalar) > 1) {
        wrong({}, "name each scalar once",
              fmt::format("its scalar {} is named twice", to_string(scalar)));
      }
      if (count(view_variables(own_), scalar) > 0) {
        wrong({}, "use a separate variable for the scalar",
              fmt::format("its scalar {} is a stride or an offset as well", to_string(scalar)));
      }
      if (count(used, scalar) == 1) continue;
      wrong(own_.computation->location,
            "use the scalar in the computation: matching a loop with it gives the value",
            fmt::format("its computation does not use the scalar {}", to_string(scalar)));
    }
  }

  // Statements may access only elements that the computation reads, because lowering checks only
  // the computation's reads.
  void check_regions() const {
    arith::Ranges ranges;
    const Operation& op = *own_.computation;
    for (const auto* axes : {&op.axes, &op.reduce_axes}) {
      for (const IterVar& axis : *axes) ranges.enter(axis->var, axis->extent);
    }
    for (const Tensor& input : op.inputs) {
      for (size_t i = 0; i < input->shape.size(); ++i) {
        std::optional<arith::Interval> read;
        walk(op.body, [&](const TensorRead& n) {
          if (!n.tensor->same_tensor(*input)) return;
          const arith::Interval values = arith::bounds(n.indices[i], ranges);
          read = read ? join(*read, values) : values;
        });
        const int64_t extent = *int_value(input->shape[i]);
        if (read == arith::Interval{0, extent - 1}) continue;
        wrong(op.location, "give the placeholder the shape of the region that is read",
              fmt::format("along axis {} of '{}' it reads the indices {} to {}, not 0 to {}", i,
                          input->name, read->min, read->max, extent - 1));
      }
    }
  }

  void check_statement(const Stmt& s) const {
    walk(s, [&](const For& n) {
      if (n.loop != LoopKind::Thread && n.loop != LoopKind::Virtual) return;
      wrong(n.location, "bind the loops around the tensorized one",
            "its statement binds threads; only the schedule may bind them");
    });
    Program program;
    program.name = own_.name;
    program.symbols = view_variables(own_);
    program.symbols.insert(program.symbols.end(), own_.scalars.begin(), own_.scalars.end());
    std::vector<Buffer> inputs;
    for (const TensorView& v : own_.inputs) inputs.push_back(v.buffer);
    program.params = inputs;
    for (const TensorView& v : own_.outputs) program.params.push_back(v.buffer);
    program.body = make_nest(own_.outputs.front().buffer, s, s->location);
    refuse(find_problem(program, inputs));
  }

  const TensorIntrinsicNode& own_;
};

}  // namespace

TensorIntrinsic make_tensor_intrinsic(TensorIntrinsicFields fields) {
  TensorIntrinsic result(new TensorIntrinsicNode(std::move(fields)));
  IntrinsicChecker(*result).run();
  return result;
}

TensorIntrinsic with_constants(const TensorIntrinsicNode& intrinsic, const Exprs& values,
                               const SourceLocation& where) {
  TensorIntrinsicFields fields = intrinsic;
  fields.location = where;
  fields.scalars.clear();
  Substitution constants;
  for (size_t i = 0; i < values.size(); ++i) {
    const Expr& scalar = intrinsic.scalars[i];
    if (values[i]) {
      constants.emplace(scalar, values[i]);
    } else {
      fields.scalars.push_back(scalar);
    }
  }
  const Op& op = fields.computation;
  fields.computation = with_body(*op, substitute(op->body, constants));
  if (fields.computation->inputs.size() != intrinsic.inputs.size()) {
    fail(where, Code::BadIntrinsic, "write a compute that reads only the remaining inputs",
         "tensor intrinsic '{}': with these scalars it does not read each of its inputs",
         intrinsic.name);
  }
  auto& [body, reset, update] = fields.statements;
  for (Stmt* s : {&body, &reset, &update}) {
    if (*s) *s = substitute(*s, constants);
  }
  return make_tensor_intrinsic(std::move(fields));
}

}  // namespace texloom::schedule
