// Converts Python values to types and expressions, and expressions to Python lists.

#include <pybind11/numpy.h>

#include "core/handles.h"
#include "ir/program.h"
#include "schedule/operation/operators.h"
#include "support/diagnostic.h"

namespace texloom::python {

using namespace ir;  // the whole file works on IR nodes

namespace {

// The name of a dtype, which may be given as a name, a NumPy dtype, or a type such as np.float32. A
// name without a width means 32 bits, as in TVM.
std::string dtype_name(const py::handle& dtype) {
  if (py::isinstance<py::str>(dtype)) {
    const auto name = dtype.cast<std::string>();
    return name == "int" || name == "uint" || name == "float" ? name + "32" : name;
  }
  if (py::isinstance<py::dtype>(dtype) || PyType_Check(dtype.ptr()) != 0) {
    const py::object known = py::module_::import("numpy").attr("dtype")(dtype);
    return known.attr("name").cast<std::string>();
  }
  return py::repr(dtype).cast<std::string>();
}

}  // namespace

Type to_vector_type(const py::handle& dtype) {
  const std::string name = dtype_name(dtype);
  if (const auto type = parse_type(name)) return *type;
  fail(user_location(), Code::UnknownType,
       "use bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32 or float64",
       "unknown dtype '{}'", name);
}

Type to_type(const py::handle& dtype) {
  const Type type = to_vector_type(dtype);
  if (type.is_scalar()) return type;
  fail(user_location(), Code::UnknownType,
       fmt::format(
           "use {}; for vectors, add an axis of extent {} to the tensor and vectorize this axis",
           to_string(type.element()), type.lanes),
       "the element type is a vector, '{}'", to_string(type));
}

namespace {

bool is_array_with_axes(const py::handle& value) {
  return py::isinstance<py::array>(value) && py::reinterpret_borrow<py::array>(value).ndim() > 0;
}

}  // namespace

bool is_expr(const py::handle& value) {
  return py::isinstance<PyExpr>(value) || py::isinstance<PyIterVar>(value) ||
         py::isinstance<PyTensorSlice>(value) || py::isinstance<PyTensor>(value) ||
         py::isinstance<py::bool_>(value) || py::isinstance<py::float_>(value) ||
         (!is_array_with_axes(value) &&
          (PyIndex_Check(value.ptr()) != 0 ||
           (py::hasattr(value, "dtype") && py::hasattr(value, "item"))));
}

Expr to_expr(const py::handle& value) {
  if (py::isinstance<PyExpr>(value)) return value.cast<const PyExpr&>().node;
  if (py::isinstance<PyIterVar>(value)) return value.cast<const PyIterVar&>().node->var;
  if (py::isinstance<PyTensorSlice>(value)) {
    const auto& slice = value.cast<const PyTensorSlice&>();
    return schedule::read(slice.tensor, slice.indices, user_location());
  }
  if (py::isinstance<PyTensor>(value)) {
    const auto& tensor = value.cast<const PyTensor&>();
    return schedule::read(tensor.node, {}, user_location());
  }
  if (py::isinstance<py::bool_>(value)) return make_bool(value.cast<bool>());
  if (py::isinstance<py::float_>(value)) return make_float(value.cast<double>());
  if (is_array_with_axes(value)) {
    fail(user_location(), Code::BadArgument,
         "give numbers and expressions; to read an array, pass it to the kernel as a "
         "te.placeholder",
         "expected an expression, not {}", kind_text(value));
  }
  if (PyIndex_Check(value.ptr()) != 0) {
    const auto number = py::reinterpret_steal<py::int_>(PyNumber_Index(value.ptr()));
    if (!number) throw py::error_already_set();
    int overflow = 0;
    const int64_t integer = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (overflow != 0) {
      fail(user_location(), Code::BadConstant, "use a float, or an integer of at most 64 bits",
           "the integer does not fit in 64 bits");
    }
    const bool small = integer >= INT32_MIN && integer <= INT32_MAX;
    return make_int(integer, small ? kInt32 : kInt64);
  }
  if (py::hasattr(value, "dtype") && py::hasattr(value, "item"))
    return to_expr(value.attr("item")());
  fail(user_location(), Code::BadArgument,
       "give a number, an expression, an axis, or a tensor with all its indices",
       "expected an expression, not {}", kind_text(value));
}

Exprs to_exprs(const py::handle& values) {
  Exprs exprs;
  for (const py::handle& value : values) exprs.push_back(to_expr(value));
  return exprs;
}

std::vector<PyExpr> wrap(const Exprs& exprs) {
  std::vector<PyExpr> list;
  for (const Expr& e : exprs) list.push_back({e});
  return list;
}

std::vector<PyIterVar> wrap(const std::vector<IterVar>& axes) {
  std::vector<PyIterVar> list;
  for (const IterVar& axis : axes) list.push_back({axis});
  return list;
}

}  // namespace texloom::python
