// Tensors, slices of them and operations.

#include <pybind11/stl.h>

#include "handles.h"
#include "ir/program.h"
#include "support/diagnostic.h"

namespace texloom::python {

using namespace ir;  // the whole file speaks of IR nodes

namespace {

// Further indices of a tensor: a slice while some are missing, then an expression.
py::object indexed(const PyTensorSlice& slice, const py::object& index) {
  PyTensorSlice longer = slice;
  const bool several = py::isinstance<py::tuple>(index) || py::isinstance<py::list>(index);
  const Exprs more = several ? to_exprs(index) : Exprs{to_expr(index)};
  longer.indices.insert(longer.indices.end(), more.begin(), more.end());
  if (longer.indices.size() < longer.tensor->shape.size()) return py::cast(longer);
  return py::cast(PyExpr{schedule::read(longer.tensor, longer.indices, user_location())});
}

void bind_tensor(py::module_& m) {
  // The classes and their operators are in expressions.cc.
  py::reinterpret_borrow<py::class_<PyTensor>>(m.attr("Tensor"))
      .def("__getitem__",
           [](const PyTensor& t, const py::object& i) { return indexed({t.node, {}}, i); })
      .def("__call__",
           [](const PyTensor& t, const py::args& indices) {
             return PyExpr{schedule::read(t.node, to_exprs(indices), user_location())};
           })
      .def("__eq__",
           [](const PyTensor& a, const py::object& b) {
             return py::isinstance<PyTensor>(b) &&
                    a.node->same_tensor(*b.cast<const PyTensor&>().node);
           })
      .def("__hash__", [](const PyTensor& t) { return RefHash()(t.node->producer); })
      .def("__repr__",
           [](const PyTensor& t) {
             std::string shape;
             for (const Expr& e : t.node->shape)
               shape += (shape.empty() ? "" : ", ") + to_string(e);
             return fmt::format("Tensor({}, shape=({}), dtype={})", t.node->name, shape,
                                to_string(t.node->type));
           })
      .def_property_readonly("name", [](const PyTensor& t) { return t.node->name; })
      .def_property_readonly("dtype", [](const PyTensor& t) { return to_string(t.node->type); })
      .def_property_readonly("ndim", [](const PyTensor& t) { return t.node->shape.size(); })
      .def_property_readonly(
          "shape", [](const PyTensor& t) { return py::tuple(py::cast(wrap(t.node->shape))); })
      .def_property_readonly(
          "op", [](const PyTensor& t) { return PyOperation{schedule::operation_of(t.node)}; });
  py::reinterpret_borrow<py::class_<PyTensorSlice>>(m.attr("TensorSlice"))
      .def("__getitem__", &indexed);
}

void bind_operation(py::module_& m) {
  py::class_<PyOperation>(m, "Operation", "What computes a tensor.")
      .def("__eq__",
           [](const PyOperation& a, const py::object& b) {
             return py::isinstance<PyOperation>(b) &&
                    a.node.same_as(b.cast<const PyOperation&>().node);
           })
      .def("__hash__", [](const PyOperation& o) { return RefHash()(o.node); })
      .def("__repr__",
           [](const PyOperation& o) {
             return fmt::format("{}({})", o.node->is_placeholder() ? "placeholder" : "compute",
                                o.node->name);
           })
      .def("output",
           [](const PyOperation& o, int index) {
             if (index != 0) throw py::index_error("the operation has one output");
             return PyTensor{schedule::output_of(o.node)};
           })
      .def_property_readonly("name", [](const PyOperation& o) { return o.node->name; })
      .def_property_readonly("tag", [](const PyOperation& o) { return o.node->tag; })
      .def_property_readonly("num_outputs", [](const PyOperation&) { return 1; })
      .def_property_readonly("axis", [](const PyOperation& o) { return wrap(o.node->axes); })
      .def_property_readonly("reduce_axis",
                             [](const PyOperation& o) { return wrap(o.node->reduce_axes); })
      .def_property_readonly("body",
                             [](const PyOperation& o) {
                               std::vector<PyExpr> body;
                               if (o.node->body) body.push_back({o.node->body});
                               return body;
                             })
      .def_property_readonly("input_tensors", [](const PyOperation& o) {
        std::vector<PyTensor> inputs;
        for (const Tensor& t : o.node->inputs) inputs.push_back({t});
        return inputs;
      });
}

Expr body_of(const std::string& name, const py::object& body) {
  try {
    return to_expr(body);
  } catch (const py::builtin_exception&) {
    fail(user_location(), Code::BadComputeBody,
         "return one expression over the axes from the function",
         "the function of '{}' returns a {}, not an expression", name,
         py::str(py::type::of(body).attr("__name__")).cast<std::string>());
  }
}

Exprs checked_shape(const py::handle& shape, const std::string& name, const SourceLocation& where) {
  Exprs extents;
  for (const Expr& extent : to_exprs(shape)) {
    const int64_t* value = int_value(extent);
    if (extent->type.is_integer() && value != nullptr && *value > INT32_MAX) {
      fail(where, Code::IndexTooLarge, "split the axis: an index is a 32-bit integer",
           "the shape of '{}' has the extent {}", name, *value);
    }
    if (!extent->type.is_integer() || (value != nullptr && *value < 1)) {
      fail(where, Code::BadShape, "give every extent as a positive integer",
           "the shape of '{}' has the extent {}", name,
           value == nullptr ? to_string(extent) : std::to_string(*value));
    }
    extents.push_back(make_cast(kInt32, extent));
  }
  return extents;
}

// Without this Python would iterate by __getitem__, and never come to an end.
void forbid_iteration(py::module_& m) {
  m.attr("Tensor").attr("__iter__") = py::none();
  m.attr("TensorSlice").attr("__iter__") = py::none();
}

}  // namespace

void bind_tensors(py::module_& m) {
  bind_tensor(m);
  bind_operation(m);
  forbid_iteration(m);
  m.def("placeholder",
        [](const py::object& shape, const std::string& dtype, const std::string& name) {
          const SourceLocation where = user_location();
          return PyTensor{schedule::output_of(schedule::make_placeholder(
              name, to_type(dtype), checked_shape(shape, name, where), where))};
        });
  m.def("check_shape", [](const py::object& shape, const std::string& name) {
    return wrap(checked_shape(shape, name, user_location()));
  });
  m.def(
      "bad_compute_function",
      [](const std::string& tensor, const std::string& problem, size_t axes) {
        fail(user_location(), Code::BadComputeBody,
             fmt::format("give it one parameter for each of the {} axes of the shape", axes),
             "the function of '{}' {}, but is called with {} axes", tensor, problem, axes);
      },
      "Raises the diagnostic for a function that cannot be called with the axes.");
  m.def("compute", [](const std::string& name, const std::string& tag,
                      const std::vector<PyIterVar>& axes, const py::object& body) {
    std::vector<IterVar> list;
    for (const PyIterVar& axis : axes) list.push_back(axis.node);
    return PyTensor{schedule::output_of(
        schedule::make_compute(name, tag, list, body_of(name, body), user_location()))};
  });
}

}  // namespace texloom::python
