// Binds tensor intrinsics.

#include <pybind11/stl.h>

#include "core/handles.h"
#include "core/ir/declared_buffer.h"
#include "ir/arith/simplify.h"
#include "ir/visit.h"
#include "schedule/operation/buffer_statement.h"
#include "support/diagnostic.h"

namespace texloom::python {

using namespace ir;  // the whole file works on IR nodes

namespace {

// The object that te.decl_tensor_intrin returns.
struct PyIntrinsic {
  schedule::TensorIntrinsic node;
};

// Maps each declared buffer of an intrinsic to a view of the tensor that it represents.
class Views {
 public:
  std::vector<schedule::TensorView> of(const std::vector<PyBuffer>& buffers) {
    std::vector<schedule::TensorView> views;
    for (const PyBuffer& b : buffers) {
      const BufferNode& n = *b.node;
      const Buffer& view =
          views_.emplace(&n, make_array(n.name, n.type, schedule::shape_of(n), n.location))
              .first->second;
      views.push_back({view, b.strides, b.offset, b.offset_factor,
                       b.names_scope ? std::optional(b.declaration.scope) : std::nullopt});
    }
    return views;
  }

  // Returns the statement with views in place of declared buffers.
  Stmt statement(const py::object& given) const {
    if (given.is_none()) return {};
    const auto place = [&](const Buffer& b, const Exprs& indices) -> schedule::ElementPlace {
      const auto found = views_.find(b.get());
      return {found == views_.end() ? b : found->second, indices};
    };
    return schedule::with_places(given.cast<const PyStmt&>().node, place);
  }

 private:
  std::unordered_map<const BufferNode*, Buffer> views_;  // the view of each declared buffer
};

PyIntrinsic make_intrinsic(const std::string& name, const PyOperation& op,
                           const std::vector<PyBuffer>& inputs,
                           const std::vector<PyBuffer>& outputs, const std::vector<PyExpr>& scalars,
                           const PyStmt& body, const py::object& reset, const py::object& update) {
  Views views;
  std::vector<schedule::TensorView> reads = views.of(inputs), writes = views.of(outputs);
  Exprs variables;
  for (const PyExpr& scalar : scalars) variables.push_back(scalar.node);
  return {schedule::make_tensor_intrinsic(
      {name,
       op.node,
       std::move(reads),
       std::move(writes),
       std::move(variables),
       {views.statement(py::cast(body)), views.statement(reset), views.statement(update)},
       user_location()})};
}

// Substitutes the scalars that are constants into the intrinsic.
schedule::TensorIntrinsic for_constants(const schedule::TensorIntrinsic& intrinsic,
                                        const std::vector<PyExpr>& scalars,
                                        const SourceLocation& where) {
  Exprs constants;
  bool any = false;
  for (const PyExpr& value : scalars) {
    const bool constant = int_value(value.node) != nullptr || as<FloatImm>(value.node) != nullptr;
    constants.push_back(constant ? value.node : Expr());
    any = any || constant;
  }
  return any ? schedule::with_constants(*intrinsic, constants, where) : intrinsic;
}

// Applies the intrinsic's computation to parts of tensors, which begin at the indices `first`, and
// to the values `scalars`. `data_axes` replace the computation's data axes, except for leading axes
// of extent 1. The result is also reduced over `reduce_axes`. Returns the intrinsic for tensorize,
// an expression for each output, and the axes of the intrinsic's own reduction.
py::tuple applied(const PyIntrinsic& intrinsic, const std::vector<PyTensor>& tensors,
                  const std::vector<py::list>& first, const std::vector<PyExpr>& scalars,
                  const std::vector<PyIterVar>& data_axes,
                  const std::vector<PyIterVar>& reduce_axes) {
  const SourceLocation where = user_location();
  const schedule::TensorIntrinsic called = for_constants(intrinsic.node, scalars, where);
  const schedule::Operation& op = *called->computation;
  Substitution axes, numbers;
  for (size_t i = 0; i < scalars.size(); ++i) {
    numbers.emplace(intrinsic.node->scalars[i], scalars[i].node);
  }
  const size_t skipped = op.axes.size() - data_axes.size();
  for (size_t i = 0; i < op.axes.size(); ++i) {
    const Expr value = i < skipped ? make_int(0) : data_axes[i - skipped].node->var;
    axes.emplace(op.axes[i]->var, make_cast(op.axes[i]->var->type, value));
  }
  std::vector<IterVar> all, own;
  for (const PyIterVar& axis : reduce_axes) all.push_back(axis.node);
  for (const IterVar& axis : op.reduce_axes) {
    const Expr var = make_var(axis->name(), axis->var->type, where);
    own.push_back(make_iter_var(var, axis->min, axis->extent, IterKind::Reduction, where));
    axes.emplace(axis->var, var);
  }
  all.insert(all.end(), own.begin(), own.end());
  std::vector<Exprs> corners;
  for (const py::list& indices : first) corners.push_back(to_exprs(indices));
  const auto at_parts = [&](const Expr& e) {
    const Expr moved = rewrite(substitute(e, axes), [&](const TensorRead& n, const Expr&) {
      size_t input = 0;
      while (!op.inputs[input]->same_tensor(*n.tensor)) ++input;
      Exprs indices = corners[input];
      const size_t in_front = indices.size() - n.indices.size();
      for (size_t i = 0; i < n.indices.size(); ++i) {
        Expr& index = indices[in_front + i];
        index = arith::simplify(make_cast(kInt32, index) + make_cast(kInt32, n.indices[i]));
      }
      return schedule::read(tensors[input].node, std::move(indices), where);
    });
    return substitute(moved, numbers);  // last, because reads in `numbers` keep their indices
  };
  std::vector<PyExpr> results;
  Exprs parts;
  for (const Expr& e : schedule::values_of(op.body)) parts.push_back(at_parts(e));
  const auto* reduce = as<Reduce>(op.body);
  if (reduce != nullptr) {
    const Expr condition = reduce->condition ? at_parts(reduce->condition) : Expr();
    const Expr whole = make_reduce(reduce->reducer, parts, all, condition, {}, where);
    for (size_t i = 0; i < parts.size(); ++i) results.push_back({whole, i});
  } else {
    results = wrap(parts);
  }
  return py::make_tuple(PyIntrinsic{called}, results, wrap(own));
}

// The declared buffer by which the intrinsic's statements access this view.
PyBuffer declared_view(const schedule::TensorView& view) {
  const BufferNode& node = *view.buffer;
  PyBuffer buffer({.name = node.name,
                   .type = node.type,
                   .shape = schedule::shape_of(node),
                   .scope = view.scope.value_or(StorageScope()),
                   .location = node.location});
  buffer.node = view.buffer;
  buffer.strides = view.strides;
  buffer.offset = view.offset;
  buffer.offset_factor = view.offset_factor;
  buffer.names_scope = view.scope.has_value();
  return buffer;
}

}  // namespace

void bind_intrinsics(py::module_& m) {
  const auto statement = [](Stmt schedule::IntrinsicStatements::* which) {
    return [which](const PyIntrinsic& i) -> py::object {
      const Stmt& s = i.node->statements.*which;
      return s ? py::cast(PyStmt{s}) : py::none();
    };
  };
  using Statements = schedule::IntrinsicStatements;
  py::class_<PyIntrinsic>(
      m, "TensorIntrin",
      R"(A small computation, and statements that perform it; made by ``te.decl_tensor_intrin``.

Use it with ``Stage.tensorize``, or call it in a ``te.compute``.
)")
      .def(py::init(&make_intrinsic))
      .def("__eq__",
           [](const PyIntrinsic& a, const py::object& b) {
             return py::isinstance<PyIntrinsic>(b) &&
                    a.node.same_as(b.cast<const PyIntrinsic&>().node);
           })
      .def("__hash__", [](const PyIntrinsic& i) { return RefHash()(i.node); })
      .def("__repr__", [](const PyIntrinsic& i) { return "intrinsic " + i.node->name; })
      .def_property_readonly("body", statement(&Statements::body),
                             "The statement of the whole computation.")
      .def_property_readonly("reduce_init", statement(&Statements::reset),
                             "The statement that resets a reduction, or None.")
      .def_property_readonly("reduce_update", statement(&Statements::update),
                             "The statement of one step of a reduction, or None.")
      .def_property_readonly(
          "scalar_params", [](const PyIntrinsic& i) { return wrap(i.node->scalars); },
          "The numbers that a call gives, as variables.")
      .def_property_readonly(
          "inputs",
          [](const PyIntrinsic& i) {
            std::vector<PyTensor> tensors;
            for (const Tensor& t : i.node->computation->inputs) tensors.push_back({t});
            return tensors;
          },
          "The tensors that its computation reads.")
      .def_property_readonly(
          "buffers",
          [](const PyIntrinsic& i) {
            std::vector<PyBuffer> buffers;
            for (const auto* views : {&i.node->inputs, &i.node->outputs}) {
              for (const schedule::TensorView& view : *views)
                buffers.push_back(declared_view(view));
            }
            return buffers;
          },
          "What its statements access: a buffer for each input, then one for each output.")
      .def_property_readonly(
          "name", [](const PyIntrinsic& i) { return i.node->name; },
          "The name used in messages and texts.")
      .def_property_readonly(
          "op", [](const PyIntrinsic& i) { return PyOperation{i.node->computation}; },
          "The computation.");
  m.def("apply_intrinsic", applied);
  py::reinterpret_borrow<py::class_<PyStage>>(m.attr("Stage"))
      .def("_tensorize",
           [](const PyStage& s, const PyIterVar& axis, const PyIntrinsic& intrinsic) {
             s.schedule->tensorize(s.id, axis.node, intrinsic.node, user_location());
           })
      .def("_intrinsic_of", [](const PyStage& s, const PyIterVar& axis) -> py::object {
        const schedule::AxisAttributes* attributes = s.get().attributes_of(axis.node);
        if (attributes == nullptr || !attributes->intrinsic) return py::none();
        return py::cast(PyIntrinsic{attributes->intrinsic});
      });
}

}  // namespace texloom::python
