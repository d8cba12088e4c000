// Binds tensors, slices of tensors, and operations.

#include <pybind11/stl.h>

#include "core/handles.h"
#include "ir/program.h"
#include "schedule/operation/replace.h"
#include "schedule/operation/scan_operation.h"
#include "support/check.h"
#include "support/diagnostic.h"

namespace texloom::python {

using namespace ir;  // the whole file works on IR nodes

namespace {

// Attributes that scripts attach to an operation: a texloom.te.attributes.Attributes.
struct Attributes : schedule::OperationAttributes {
  explicit Attributes(const py::object& given)
      : OperationAttributes(py::len(given) == 0 ? "" : py::str(given).cast<std::string>()),
        values(given) {}
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() override {
    const py::gil_scoped_acquire gil;  // a thread without the GIL may drop the last reference
    values = {};
  }
  py::object values;
};

// Adds indices to a slice. Their number is checked when the element is used.
PyTensorSlice indexed(const PyTensorSlice& slice, const py::object& index) {
  PyTensorSlice longer = slice;
  const bool several = py::isinstance<py::tuple>(index) || py::isinstance<py::list>(index);
  const Exprs more = several ? to_exprs(index) : Exprs{to_expr(index)};
  longer.indices.insert(longer.indices.end(), more.begin(), more.end());
  return longer;
}

// "(8, 16)", "(8,)"
std::string shape_text(const TensorNode& t) {
  std::string shape;
  for (const Expr& e : t.shape) shape += (shape.empty() ? "" : ", ") + to_string(e);
  return fmt::format("({}{})", shape, t.shape.size() == 1 ? "," : "");
}

// Fails for two tensors without axes: it is not clear whether to compare tensors or elements.
bool is_equal(const PyTensor& a, const py::object& b) {
  if (!py::isinstance<PyTensor>(b)) return false;
  const auto& other = b.cast<const PyTensor&>();
  if (a.node->shape.empty() && other.node->shape.empty()) {
    fail(user_location(), Code::NoTruthValue,
         "compare A() == B() for their elements, or A.same_as(B) for the tensors",
         "== is ambiguous for the tensors '{}' and '{}' without axes", a.node->name,
         other.node->name);
  }
  return a.node->same_tensor(*other.node);
}

void bind_tensor(py::module_& m) {
  // expressions.cc defines the classes and their operators; here are their other methods.
  py::reinterpret_borrow<py::class_<PyTensor>>(m.attr("Tensor"))
      .def(
          "__getitem__",
          [](const PyTensor& t, const py::object& i) { return indexed({t.node, {}}, i); },
          "The element at all indices, ``T[i, j]``; a slice at the first ones, ``T[i]``; a region "
          "for ranges, ``T[i, 0:16]``, which a tensor intrinsic takes.")
      .def(
          "__call__",
          [](const PyTensor& t, const py::args& indices) {
            return PyExpr{schedule::read(t.node, to_exprs(indices), user_location())};
          },
          "The element at these indices, ``T(i, j)``; TL1002 for another number of them.")
      .def("__eq__", is_equal)
      .def("__hash__",
           [](const PyTensor& t) {
             return RefHash()(t.node->producer) + static_cast<size_t>(t.node->output);
           })
      .def(
          "same_as",
          [](const PyTensor& a, const py::object& b) {
            return py::isinstance<PyTensor>(b) &&
                   a.node->same_tensor(*b.cast<const PyTensor&>().node);
          },
          py::arg("other"), "Whether both are the same output of the same operation.")
      .def("__repr__",
           [](const PyTensor& t) {
             return fmt::format("Tensor({}, shape={}, dtype={})", t.node->name, shape_text(*t.node),
                                to_string(t.node->type));
           })
      .def_property_readonly(
          "name", [](const PyTensor& t) { return t.node->name; },
          "The name given to its operation; for one of several outputs, ``name.v0``, ``name.v1``, "
          "...")
      .def_property_readonly(
          "dtype", [](const PyTensor& t) { return to_string(t.node->type); },
          "The type of an element, such as ``\"float32\"``.")
      .def_property_readonly(
          "value_index", [](const PyTensor& t) { return t.node->output; },
          "Which output of its operation it is, from 0.")
      .def_property_readonly(
          "axis", [](const PyTensor& t) { return wrap(schedule::operation_of(t.node)->axes); },
          "The axes of its operation, without those of a reduction.")
      .def_property_readonly(
          "ndim", [](const PyTensor& t) { return t.node->shape.size(); }, "The number of axes.")
      .def_property_readonly(
          "shape", [](const PyTensor& t) { return py::tuple(py::cast(wrap(t.node->shape))); },
          "The extents, as expressions of int32: constants or symbols.");
  py::reinterpret_borrow<py::class_<PyTensorSlice>>(m.attr("TensorSlice"))
      .def("__getitem__", &indexed, "The slice or the element with further indices.");
}

std::string_view kind_of(const schedule::Operation& op) {
  switch (op.kind) {
    case schedule::OperationKind::Placeholder:
      return "placeholder";
    case schedule::OperationKind::Compute:
      return "compute";
    case schedule::OperationKind::Extern:
      return "extern";
    case schedule::OperationKind::Scan:
      return "scan";
  }
  TL_UNREACHABLE();
}

bool is_same(const PyOperation& a, const py::object& b) {
  return py::isinstance<PyOperation>(b) && a.node.same_as(b.cast<const PyOperation&>().node);
}

PyTensor output_of(const PyOperation& o, int index) {
  const auto outputs = static_cast<int>(o.node->types.size());
  if (index < 0 || index >= outputs)
    throw py::index_error(fmt::format("the operation has the outputs 0 to {}", outputs - 1));
  return PyTensor{schedule::output_of(o.node, static_cast<size_t>(index))};
}

// The attributes of an operation; as a string if the operation was read from text.
py::object attributes_of(const PyOperation& o) {
  if (!o.node->attributes) return py::none();
  const auto* own = dynamic_cast<const Attributes*>(o.node->attributes.get());
  return own == nullptr ? py::object(py::str(o.node->attributes->text)) : own->values;
}

std::vector<PyExpr> body_of(const PyOperation& o) {
  std::vector<PyExpr> body;
  if (!o.node->is_compute()) return body;
  if (o.node->body->kind != ExprKind::Reduce) return wrap(schedule::values_of(o.node->body));
  for (size_t i = 0; i < o.node->types.size(); ++i) body.push_back({o.node->body, i});
  return body;
}

std::vector<PyTensor> input_tensors_of(const PyOperation& o) {
  const auto is_state = [&](const Tensor& t) {
    const std::vector<schedule::ScanState>& states = o.node->states;
    return std::any_of(states.begin(), states.end(),
                       [&](const schedule::ScanState& s) { return s.state->same_tensor(*t); });
  };
  std::vector<PyTensor> inputs;
  for (const Tensor& t : o.node->inputs) {
    if (!is_state(t)) inputs.push_back({t});
  }
  return inputs;
}

void bind_operation(py::module_& m) {
  py::class_<PyOperation>(
      m, "Operation",
      R"(What computes one or several tensors: a placeholder, a compute, a scan or an extern.

The classes of ``te``, such as ``te.ComputeOp``, tell them apart by ``isinstance``. Operations are
compared by identity, and can be keys of dicts.
)")
      .def("__eq__", &is_same)
      .def("__hash__", [](const PyOperation& o) { return RefHash()(o.node); })
      .def("__repr__",
           [](const PyOperation& o) {
             return fmt::format("{}({})", kind_of(*o.node), o.node->name);
           })
      .def("output", &output_of, py::arg("index"),
           "Output number `index`, from 0; an IndexError if there is none.")
      .def("same_as", &is_same, py::arg("other"), "Whether both are the same operation.")
      .def_property_readonly("_kind", [](const PyOperation& o) { return kind_of(*o.node); })
      .def_property_readonly("_attributes", &attributes_of)
      .def_property_readonly(
          "name", [](const PyOperation& o) { return o.node->name; },
          "The name given when it was made.")
      .def_property_readonly(
          "tag", [](const PyOperation& o) { return o.node->tag; },
          "The tag given when it was made; empty by default.")
      .def_property_readonly(
          "num_outputs", [](const PyOperation& o) { return o.node->types.size(); },
          "The number of tensors that it computes.")
      .def_property_readonly(
          "axis", [](const PyOperation& o) { return wrap(o.node->axes); },
          "The axes of its results, in order.")
      .def_property_readonly(
          "reduce_axis", [](const PyOperation& o) { return wrap(o.node->reduce_axes); },
          "The axes of its reduction; empty without one.")
      .def_property_readonly(
          "body", &body_of,
          "The expression of each output; empty for an operation that is not a compute.")
      .def_property_readonly("input_tensors", &input_tensors_of,
                             "The tensors that it reads, without the states of a scan.");
  py::reinterpret_borrow<py::class_<PyTensor>>(m.attr("Tensor"))
      .def_property_readonly(
          "op", [](const PyTensor& t) { return PyOperation{schedule::operation_of(t.node)}; },
          "The operation that computes it.");
}

// Fails for an operation that is not a scan.
const schedule::Operation& scan_of(const PyOperation& o, const char* attribute) {
  if (o.node->is_scan()) return *o.node;
  throw py::attribute_error(
      fmt::format("'{}' is not a scan, and only scans have {}", o.node->name, attribute));
}

std::vector<PyTensor> parts_of(const PyOperation& o, const char* attribute,
                               Tensor schedule::ScanState::* part) {
  std::vector<PyTensor> parts;
  for (const schedule::ScanState& s : scan_of(o, attribute).states) parts.push_back({s.*part});
  return parts;
}

std::vector<PyTensor> scan(const std::string& name, const std::string& tag,
                           const std::vector<PyTensor>& inits, const std::vector<PyTensor>& updates,
                           const std::vector<PyTensor>& placeholders,
                           const py::object& attributes) {
  std::vector<schedule::ScanState> states;
  for (size_t i = 0; i < inits.size(); ++i) {
    states.push_back({inits[i].node, updates[i].node, placeholders[i].node});
  }
  const schedule::Op op = schedule::make_scan(name, name + ".idx", tag, std::move(states),
                                              user_location(), keep_attributes(attributes));
  std::vector<PyTensor> outputs;
  for (const Tensor& t : schedule::outputs_of(op)) outputs.push_back({t});
  return outputs;
}

// Returns the tensors with an axis of rows in front. `inputs` are (placeholder, tensor with rows,
// offset); see schedule::Replacements.
std::vector<PyTensor> with_rows(
    const std::vector<PyTensor>& outputs, const py::object& rows,
    const std::vector<std::tuple<PyTensor, PyTensor, std::int64_t>>& inputs) {
  schedule::Replacements replacements;
  replacements.rows = to_expr(rows);
  for (const auto& [placeholder, tensor, offset] : inputs) {
    replacements.add(placeholder.node, tensor.node);
    const Tensor& from = placeholder.node;
    if (offset != 0) replacements.row_offsets[{from->producer.get(), from->output}] = offset;
  }
  std::vector<Tensor> given;
  for (const PyTensor& each : outputs) given.push_back(each.node);
  std::vector<PyTensor> made;
  for (const Tensor& each : schedule::with_replacements(given, replacements))
    made.push_back({each});
  return made;
}

void bind_scan(py::module_& m) {
  using schedule::ScanState;
  py::reinterpret_borrow<py::class_<PyOperation>>(m.attr("Operation"))
      .def_property_readonly(
          "scan_axis",
          [](const PyOperation& o) { return PyIterVar{scan_of(o, "scan_axis").scan_axis}; },
          "The axis of a scan's steps; an AttributeError for other operations.")
      .def_property_readonly(
          "spatial_axis_",
          [](const PyOperation& o) { return wrap(scan_of(o, "spatial_axis_").spatial_axes); },
          "The axes of a scan's states, after the steps' axis; an AttributeError for other "
          "operations.")
      .def_property_readonly(
          "init", [](const PyOperation& o) { return parts_of(o, "init", &ScanState::init); },
          "The first rows of a scan's states; an AttributeError for other operations.")
      .def_property_readonly(
          "update", [](const PyOperation& o) { return parts_of(o, "update", &ScanState::update); },
          "What computes a row of a scan's states; an AttributeError for other operations.")
      .def_property_readonly(
          "state_placeholder",
          [](const PyOperation& o) { return parts_of(o, "state_placeholder", &ScanState::state); },
          "The placeholders of a scan's states; an AttributeError for other operations.");
  m.def("scan", scan);
  m.def("_with_rows", with_rows);
}

Expr value_of(const std::string& name, const py::handle& body) {
  if (is_expr(body)) return to_expr(body);
  fail(user_location(), Code::BadComputeBody,
       "return an expression over the axes from the function, or a list of expressions",
       "the function of '{}' returns {}, not an expression", name, kind_text(body));
}

// The body for several values: all values of one reduction, in order, or expressions without
// reductions.
Expr body_of(const std::string& name, const std::vector<py::object>& values) {
  if (values.empty()) {
    fail(user_location(), Code::BadComputeBody, "return an expression for each output",
         "the function of '{}' returns an empty list", name);
  }
  Exprs exprs;
  bool in_order = true;
  const Reduce* reduce = nullptr;
  for (size_t i = 0; i < values.size(); ++i) {
    exprs.push_back(value_of(name, values[i]));
    if (const auto* n = as<Reduce>(exprs.back())) reduce = n;
    in_order = in_order && exprs.back().same_as(exprs.front()) &&
               py::isinstance<PyExpr>(values[i]) && values[i].cast<const PyExpr&>().output == i;
  }
  if (reduce == nullptr) return exprs.size() == 1 ? exprs.front() : make_tuple(std::move(exprs));
  if (in_order && reduce->sources.size() == exprs.size()) return exprs.front();
  fail(user_location(), Code::BadReduction,
       "return the values of one reducer, as in argmax((k, A[i, k]), axis=k), or use a separate "
       "te.compute for each reduction",
       "the {} values of '{}' do not come from one reduction", exprs.size(), name);
}

Exprs checked_shape(const py::handle& shape, const std::string& name, const SourceLocation& where) {
  Exprs extents;
  for (const Expr& extent : to_exprs(shape)) {
    const int64_t* value = int_value(extent);
    if (extent->type.is_integer() && value != nullptr && *value > INT32_MAX) {
      fail(where, Code::IndexTooLarge, "split the axis: an index is a 32-bit integer",
           "the extent {} of '{}' does not fit a 32-bit index", *value, name);
    }
    if (!extent->type.is_integer() || (value != nullptr && *value < 1)) {
      const bool is_number = value != nullptr && !extent->type.is_bool();
      fail(where, Code::BadShape, "give every extent as a positive integer",
           "the shape of '{}' has the extent {}", name,
           is_number ? std::to_string(*value) : to_string(extent));
    }
    if (value == nullptr && extent->type != kInt32) {
      fail(where, Code::BadShape, "make its variables with te.var(name), whose dtype is int32",
           "the shape of '{}' has the extent {} of dtype {}", name, to_string(extent),
           to_string(extent->type));
    }
    extents.push_back(make_cast(kInt32, extent));
  }
  return extents;
}

// Forbids iteration: Python would otherwise iterate with __getitem__, and never stop.
void forbid_iteration(py::module_& m) {
  m.attr("Tensor").attr("__iter__") = py::none();
  m.attr("TensorSlice").attr("__iter__") = py::none();
}

}  // namespace

Ref<schedule::OperationAttributes> keep_attributes(const py::object& given) {
  if (given.is_none()) return {};
  return Ref<schedule::OperationAttributes>(new Attributes(given));
}

void bind_tensors(py::module_& m) {
  bind_tensor(m);
  bind_operation(m);
  bind_scan(m);
  forbid_iteration(m);
  m.def("placeholder",
        [](const py::object& shape, const py::object& dtype, const std::string& name) {
          const SourceLocation where = user_location();
          return PyTensor{schedule::output_of(schedule::make_placeholder(
              name, to_type(dtype), checked_shape(shape, name, where), where))};
        });
  m.def("check_shape", [](const py::object& shape, const std::string& name) {
    return wrap(checked_shape(shape, name, user_location()));
  });
  m.def(
      "bad_broadcast",
      [](const PyTensor& a, const PyTensor& b) {
        fail(user_location(), Code::BadShape,
             "match the extents from the last axis on: they must be equal, or one of the two must "
             "be 1",
             "the shapes {} of '{}' and {} of '{}' do not broadcast", shape_text(*a.node),
             a.node->name, shape_text(*b.node), b.node->name);
      },
      "Raises the diagnostic for two tensors whose shapes do not fit.");
  m.def("compute",
        [](const std::string& name, const std::string& tag, const std::vector<PyIterVar>& axes,
           const std::vector<py::object>& values, const py::object& attributes) {
          std::vector<IterVar> list;
          for (const PyIterVar& axis : axes) list.push_back(axis.node);
          const schedule::Op op = schedule::make_compute(
              name, tag, list, body_of(name, values), user_location(), keep_attributes(attributes));
          std::vector<PyTensor> outputs;
          for (const Tensor& t : schedule::outputs_of(op)) outputs.push_back({t});
          return outputs;
        });
}

}  // namespace texloom::python
