// The contents of Python objects: only values and shared handles of the C++ core.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <vector>

#include "ir/expr.h"
#include "schedule/schedule.h"

namespace texloom::python {

namespace py = pybind11;

struct PyExpr {
  ir::Expr node;
  size_t output = 0;  // the index of the value, for a reduction of several values
};
struct PyIterVar {
  ir::IterVar node;
};
struct PyTensor {
  ir::Tensor node;
};
// A tensor indexed by only its first indices.
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

// The user's current line: the line of the innermost Python frame outside the package texloom.
SourceLocation user_location();

// Converts a number, an expression, an axis, a full slice or a tensor without axes to an
// expression. Throws a Python TypeError for other values; is_expr() tells whether a value converts.
ir::Expr to_expr(const py::handle& value);
bool is_expr(const py::handle& value);
ir::Exprs to_exprs(const py::handle& values);
// Converts a dtype's name, or a dtype or scalar type of NumPy; fails with UnknownType. to_type
// refuses vector types, to_vector_type accepts them.
ir::Type to_type(const py::handle& dtype);
ir::Type to_vector_type(const py::handle& dtype);
// Converts expressions as shapes show them: an integer constant becomes a Python number, any other
// expression stays.
std::vector<PyExpr> wrap(const ir::Exprs& exprs);
std::vector<PyIterVar> wrap(const std::vector<ir::IterVar>& axes);

// Wraps the attributes that a script attaches to an operation (texloom/te/attributes.py); null if
// there are none.
Ref<schedule::OperationAttributes> keep_attributes(const py::object& given);

// Names the kind of a value in a message: "None", "a list", "an int", "a NumPy array".
std::string kind_text(const py::handle& value);

// Shows a warning at the user's line.
void warn(const Diagnostic& diagnostic);

// Each of these functions adds the classes and functions of one source file to the module.
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
void bind_operation_reads(py::module_& m);
void bind_schedules(py::module_& m);
void bind_stage_state(py::module_& m);
void bind_programs(py::module_& m);
void bind_program_view(py::module_& m);
void bind_targets(py::module_& m);
void bind_texture_plans(py::module_& m);
void bind_packages(py::module_& m);
void bind_metallibs(py::module_& m);
void bind_package_view(py::module_& m);
void bind_validation(py::module_& m);
void bind_devices(py::module_& m);
void bind_arrays(py::module_& m);
void bind_functions(py::module_& m);
void bind_custom_operators(py::module_& m);
void bind_profiling(py::module_& m);
void bind_buffer_planning(py::module_& m);
void bind_graphs(py::module_& m);

}  // namespace texloom::python
