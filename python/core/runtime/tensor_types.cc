#include "core/runtime/tensor_types.h"

#include <pybind11/stl.h>

#include <cstdint>
#include <string>
#include <utility>

namespace texloom::python {
namespace {

// A list or a tuple; null for anything else.
py::object list_of(const py::handle& value) {
  if (!py::isinstance<py::list>(value) && !py::isinstance<py::tuple>(value)) return {};
  return py::reinterpret_borrow<py::object>(value);
}

Result<std::int64_t> extent_of(const py::handle& value) {
  if (PyIndex_Check(value.ptr()) == 0)
    return invalid_argument("has {} in place of an extent", kind_text(value));
  const py::int_ number(py::reinterpret_borrow<py::object>(value));
  const std::int64_t extent = PyLong_AsLongLong(number.ptr());
  if (PyErr_Occurred() == nullptr) return extent;
  PyErr_Clear();
  return invalid_argument("has an extent that does not fit in 64 bits");
}

Result<runtime::TensorType> type_of(const py::handle& value) {
  const py::object row = list_of(value);
  if (!row || py::len(row) != 2)
    return invalid_argument("has {} in place of (dtype, shape)", kind_text(value));
  const py::object dtype = row[py::int_(0)], shape = list_of(row[py::int_(1)]);
  if (!py::isinstance<py::str>(dtype))
    return invalid_argument("has {} in place of a dtype's name", kind_text(dtype));
  const auto name = dtype.cast<std::string>();
  const auto element = hal::element_type_from_name(name);
  if (!element) return invalid_argument("has '{}', which is not a dtype", name);
  if (!shape) return invalid_argument("has {} in place of a shape", kind_text(row[py::int_(1)]));
  runtime::TensorType type{*element, {}};
  for (const py::handle each : shape) {
    TL_ASSIGN_OR_RETURN(const std::int64_t extent, extent_of(each));
    type.shape.push_back(extent);
  }
  return type;
}

}  // namespace

Result<std::vector<runtime::TensorType>> types_of(const py::object& given) {
  const py::object rows = list_of(given);
  if (!rows) return invalid_argument("is {}, not a list", kind_text(given));
  std::vector<runtime::TensorType> types;
  for (const py::handle row : rows) {
    TL_ASSIGN_OR_RETURN(runtime::TensorType type, type_of(row));
    types.push_back(std::move(type));
  }
  return types;
}

py::list rows_of(std::span<const runtime::TensorType> types) {
  py::list rows;
  for (const runtime::TensorType& each : types)
    rows.append(
        py::make_tuple(std::string(hal::to_string(each.element)), py::tuple(py::cast(each.shape))));
  return rows;
}

}  // namespace texloom::python
