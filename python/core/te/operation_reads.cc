// Binds the analysis of a computation's reads (schedule/operation/operation_reads.h).

#include "schedule/operation/operation_reads.h"

#include <pybind11/stl.h>

#include <string>

#include "core/handles.h"

namespace texloom::python {
namespace {

struct PyOperationReads {
  schedule::OperationReads reads;
};

const char* word_of(schedule::ReadKind kind) {
  switch (kind) {
    case schedule::ReadKind::Own:
      return "own";
    case schedule::ReadKind::Broadcast:
      return "broadcast";
    case schedule::ReadKind::Other:
      return "other";
  }
  return "";
}

// (tensor, kind, count) of each input
py::list inputs_of(const PyOperationReads& own) {
  py::list list;
  for (const schedule::InputReads& each : own.reads.inputs)
    list.append(py::make_tuple(PyTensor{each.tensor}, word_of(each.kind), each.count));
  return list;
}

// None for an operation other than a compute.
py::object reads_of(const PyOperation& op) {
  if (!op.node->is_compute()) return py::none();
  return py::cast(PyOperationReads{schedule::reads_of(*op.node)});
}

}  // namespace

void bind_operation_reads(py::module_& m) {
  py::class_<PyOperationReads>(m, "_OperationReads")
      .def_property_readonly("inputs", &inputs_of)
      .def_property_readonly("size", [](const PyOperationReads& own) { return own.reads.size; });
  m.def("operation_reads", &reads_of);
}

}  // namespace texloom::python
