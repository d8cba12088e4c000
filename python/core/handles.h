// What Python objects hold: values and shared handles of the C++ core, and nothing else.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <vector>

#include "ir/expr.h"
#include "schedule/schedule.h"

namespace texloom::python {

namespace py = pybind11;

struct PyExpr {
  ir::Expr node;
  size_t output = 0;  // of a reduction of several values: which of them
};
struct PyIterVar {
  ir::IterVar node;
};
struct PyTensor {
  ir::Tensor node;
};
// A tensor with its first indices given.
struct PyTensorSlice {
  ir::Tensor tensor;
  ir::Exprs indices;
};
struct PyStmt {
  ir::Stmt node;
};
struct PyOperation {
  schedule::Op node;
};
using SharedSchedule = std::shared_ptr<schedule::Schedule>;
struct PyStage {
  SharedSchedule schedule;
  schedule::StageId id;

  schedule::Stage& get() const { return schedule->stage(id); }
};

// The line of the user's program that is being run: the innermost Python frame outside the
// texloom package.
SourceLocation user_location();

// An expression from a number, an expression, an axis, a full slice or a tensor without axes.
// Throws a Python TypeError for anything else; is_expr says whether it would.
ir::Expr to_expr(const py::handle& value);
bool is_expr(const py::handle& value);
ir::Exprs to_exprs(const py::handle& values);
// A dtype by its name, or as NumPy's dtypes and types are; fails with UnknownType. to_type takes
// none of several lanes, to_vector_type any.
ir::Type to_type(const py::handle& dtype);
ir::Type to_vector_type(const py::handle& dtype);
// A Python number for an integer constant, else the expression itself, as shapes show it.
std::vector<PyExpr> wrap(const ir::Exprs& exprs);
std::vector<PyIterVar> wrap(const std::vector<ir::IterVar>& axes);

// Attributes that scripts attach to an operation; null for None.
Ref<RefCounted> keep_attributes(const py::object& given);

// Shows a warning at the user's line.
void warn(const Diagnostic& diagnostic);

// Each adds the classes and functions of one file to the module.
void bind_errors(py::module_& m);
void bind_expressions(py::module_& m);
void bind_nodes(py::module_& m);
void bind_reductions(py::module_& m);
void bind_arithmetic(py::module_& m);
void bind_declared_buffers(py::module_& m);
void bind_statements(py::module_& m);
void bind_foreign(py::module_& m);
void bind_tensors(py::module_& m);
void bind_intrinsics(py::module_& m);
void bind_schedules(py::module_& m);
void bind_stage_state(py::module_& m);
void bind_programs(py::module_& m);
void bind_program_view(py::module_& m);
void bind_targets(py::module_& m);
void bind_module_files(py::module_& m);
void bind_validation(py::module_& m);
void bind_devices(py::module_& m);
void bind_arrays(py::module_& m);
void bind_functions(py::module_& m);
void bind_profiling(py::module_& m);

}  // namespace texloom::python
