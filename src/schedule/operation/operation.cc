#include "schedule/operation/operation.h"

#include <algorithm>
#include <unordered_set>

#include "ir/analysis/symbolic_extents.h"
#include "ir/arith/simplify.h"
#include "ir/program.h"
#include "ir/reducer.h"
#include "ir/visit.h"
#include "schedule/operation/buffer_statement.h"
#include "schedule/operation/reduction_box.h"
#include "support/diagnostic.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

Op make_placeholder(std::string name, Type type, Exprs shape, SourceLocation location) {
  auto* op = new Operation;
  op->kind = OperationKind::Placeholder;
  op->name = std::move(name);
  op->types = {type};
  op->shape = std::move(shape);
  op->location = std::move(location);
  return Op(op);
}

namespace {

// The reducer and the initial value of a reduction are the same for all its steps.
void check_constant_parts(const Operation& op, const Reduce& reduce) {
  const auto find = [&](const Exprs& list, auto refuse) {
    for (const IterVar& axis : reduce.axes) {
      for (const Expr& e : list) {
        if (uses_var(e, axis->var)) refuse(axis->name());
      }
    }
  };
  find(reduce.init, [&](const std::string& axis) {
    fail(op.location, Code::BadReduction, "use only the axes of the tensor in init=",
         "the reduction of '{}' starts from a value that uses its axis '{}'", op.name, axis);
  });
  find(parameters_of(reduce.reducer), [&](const std::string& axis) {
    fail(op.location, Code::BadReduction,
         "use only the axes of the tensor in the reducer, or put the axis into the expression "
         "that is reduced",
         "the reducer '{}' of '{}' uses the axis '{}' of the reduction", reduce.reducer.name,
         op.name, axis);
  });
}

std::vector<Type> types_of(const Expr& body) {
  std::vector<Type> types;
  for (const Expr& value : values_of(body)) types.push_back(value->type);
  return types;
}

// A body computes elements from elements of tensors: buffers and vectors are for statements.
void check_elements(const Operation& op, const Expr& body) {
  const bool reads_buffers_or_vectors = any_of(body, [](const ExprNode& e) {
    return e.kind == ExprKind::Load || e.kind == ExprKind::Pointer || !e.type.is_scalar();
  });
  if (!reads_buffers_or_vectors) return;
  fail(op.location, Code::BadComputeBody, "read tensors, or write the statement by te.extern",
       "the expression of '{}' reads a buffer", op.name);
}

// The free variables of the statement.
Exprs scalars_in(const Stmt& statement) {
  std::unordered_set<const ExprNode*> known;
  walk(
      statement, [&](const For& n) { known.insert(n.var.get()); },
      [&](const Let& n) { known.insert(n.var.get()); });
  Exprs scalars;
  const auto note = [&](const Var& v) {
    if (known.insert(&v).second) scalars.emplace_back(&v);
  };
  walk(statement, note);
  walk(statement, [&](const Allocate& n) {
    for (const Expr& extent : n.buffer->extents) walk(extent, note);
  });
  return scalars;
}

}  // namespace

Exprs scalars_in(const Operation& op) {
  if (op.is_extern()) return scalars_in(op.statement);
  if (!op.is_compute()) return {};
  std::unordered_set<const ExprNode*> known;
  for (const IterVar& axis : op.axes) known.insert(axis->var.get());
  for (const IterVar& axis : op.reduce_axes) known.insert(axis->var.get());
  if (const auto* reduce = as<Reduce>(op.body)) {
    for (const Expr& operand : reduce->reducer.lhs) known.insert(operand.get());
    for (const Expr& operand : reduce->reducer.rhs) known.insert(operand.get());
  }
  Exprs scalars;
  walk(op.body, [&](const Var& v) {
    if (known.insert(&v).second) scalars.emplace_back(&v);
  });
  return scalars;
}

Exprs values_of(const Expr& body) {
  if (const auto* tuple = as<Tuple>(body)) return tuple->elements;
  if (const auto* reduce = as<Reduce>(body)) return reduce->sources;
  return {body};
}

void check_body_size(const Expr& body, std::string_view name, const SourceLocation& location) {
  if (body->size <= kMaxSize) return;
  fail(location, Code::ProgramTooLarge,
       "compute a part that is used several times in a separate te.compute",
       "the expression of '{}' has more than {} parts", name, kMaxSize);
}

Op make_compute(std::string name, std::string tag, std::vector<IterVar> axes, Expr body,
                SourceLocation location, Ref<OperationAttributes> attributes) {
  auto* op = new Operation;
  Op result(op);
  op->attributes = std::move(attributes);
  check_body_size(body, name, location);
  body = reduction_over_box(body, axes, name);
  op->kind = OperationKind::Compute;
  op->name = std::move(name);
  op->tag = std::move(tag);
  op->types = types_of(body);
  op->location = std::move(location);
  if (op->types.size() > kMaxOutputs) {
    fail(op->location, Code::BadComputeBody, "compute some of them in a separate te.compute",
         "'{}' has {} outputs; an operation has at most {}", op->name, op->types.size(),
         kMaxOutputs);
  }
  for (const IterVar& axis : axes) op->shape.push_back(axis->extent);
  op->axes = std::move(axes);
  const auto* top = as<Reduce>(body);
  if (top != nullptr) {
    op->reduce_axes = top->axes;
    check_constant_parts(*op, *top);
  }
  check_elements(*op, body);
  walk(body, [&](const Reduce& inner) {
    if (&inner == top) return;
    fail(op->location, Code::BadReduction,
         "compute the reduction in a separate te.compute and read its result here",
         "'{}' has a reduction inside its expression; only the whole expression may be a reduction",
         op->name);
  });
  op->inputs = tensors_read_by(body);
  op->body = std::move(body);
  return result;
}

std::string_view attributes_text(const Operation& op) {
  return op.attributes ? std::string_view(op.attributes->text) : std::string_view();
}

Op with_body(const Operation& op, Expr body) {
  OperationFields other = op;
  const auto* reduce = as<Reduce>(body);
  other.reduce_axes = reduce == nullptr ? std::vector<IterVar>() : reduce->axes;
  other.inputs = tensors_read_by(body);
  other.body = std::move(body);
  return Op(new Operation(std::move(other)));
}

std::vector<IterVar> loops_of(const Operation& op) {
  if (op.is_scan()) return {op.scan_axis};
  std::vector<IterVar> loops = op.axes;
  loops.insert(loops.end(), op.reduce_axes.begin(), op.reduce_axes.end());
  return loops;
}

Exprs output_shape(const Operation& op, size_t output) {
  if (op.is_scan()) return op.states[output].update->shape;
  if (!op.is_extern()) return op.shape;
  return shape_of(*op.writes[output]);
}

Tensor output_of(const Op& op, size_t output) {
  auto* tensor = new TensorNode;
  tensor->name = op->types.size() == 1 ? op->name : fmt::format("{}.v{}", op->name, output);
  tensor->type = op->types[output];
  tensor->shape = output_shape(*op, output);
  tensor->producer = op;
  tensor->output = static_cast<int>(output);
  tensor->location = op->location;
  return Tensor(tensor);
}

std::vector<Tensor> outputs_of(const Op& op) {
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < op->types.size(); ++i) outputs.push_back(output_of(op, i));
  return outputs;
}

Op operation_of(const Tensor& tensor) {
  return Op(static_cast<const Operation*>(tensor->producer.get()));
}

Expr read(const Tensor& tensor, Exprs indices, const SourceLocation& location) {
  if (indices.size() != tensor->shape.size()) {
    fail(location, Code::BadIndexCount,
         indices.empty()
             ? fmt::format("compute element by element, as in te.compute({0}.shape, lambda *i: "
                           "te.exp({0}(*i)))",
                           tensor->name)
             : fmt::format("give '{}' one index for each axis of its shape", tensor->name),
         "'{}' has {} {} but is read with {} {}", tensor->name, tensor->shape.size(),
         tensor->shape.size() == 1 ? "axis" : "axes", indices.size(),
         indices.size() == 1 ? "index" : "indices");
  }
  for (const Expr& index : indices) {
    if (index->type.is_integer()) continue;
    fail(location, Code::BadOperandType, "cast the index to int32 with .astype(\"int32\")",
         "an index of '{}' has type {}, not an integer", tensor->name, to_string(index->type));
  }
  return make_tensor_read(tensor, std::move(indices), location);
}

Exprs extents_of(const Exprs& shape, std::string_view what, const SourceLocation& location) {
  Exprs extents;
  for (const Expr& e : shape) {
    extents.push_back(arith::simplify(e));
    const int64_t* value = int_value(extents.back());
    if (!e->type.is_integer() || (value == nullptr && !is_extent(extents.back()))) {
      fail(location, Code::BadShape,
           "use + - * // % min and max of constants and of variables of dtype int32",
           "the shape of '{}' has the extent {}, which cannot be an extent", what, to_string(e));
    }
    if (value == nullptr || *value >= 1) continue;
    fail(location, Code::BadShape, "give every extent as a positive integer",
         "the shape of '{}' has the extent {}, which is not positive", what, *value);
  }
  return extents;
}

std::vector<int64_t> constant_shape(const Exprs& shape, std::string_view what,
                                    const SourceLocation& location) {
  std::vector<int64_t> extents;
  for (const Expr& extent : shape) {
    const int64_t* value = int_value(extent);
    if (value == nullptr || *value < 1) {
      fail(location, Code::BadShape, "give every extent as a positive integer",
           "the shape of '{}' has the extent {}, which is not a positive constant", what,
           to_string(extent));
    }
    extents.push_back(*value);
  }
  return extents;
}

std::vector<Tensor> tensors_read_by(const Expr& body) {
  std::vector<Tensor> inputs;
  walk(body, [&](const TensorRead& n) {
    const bool known = std::any_of(inputs.begin(), inputs.end(),
                                   [&](const Tensor& t) { return t->same_tensor(*n.tensor); });
    if (!known) inputs.push_back(n.tensor);
  });
  return inputs;
}

}  // namespace texloom::schedule
