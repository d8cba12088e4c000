// Binds calls of functions that a script defines in C, and pointers for their arguments.

#include <pybind11/stl.h>

#include "core/handles.h"
#include "core/ir/declared_buffer.h"
#include "ir/stmt.h"
#include "ir/verify/verify_types.h"
#include "support/check.h"
#include "support/diagnostic.h"

namespace texloom::python {

using namespace ir;  // the whole file works on IR nodes

namespace {

PyExpr checked(Expr e) {
  const std::string problem = type_problem(e, {.logical = true});
  if (problem.empty()) return {std::move(e)};
  fail(e->location, Code::BadForeignCall,
       problem == "the function name is not a C identifier"
           ? "use a valid C identifier as the function name"
           : "pass integers, float32 or float64 (convert other types with .astype) and row-major "
             "buffers of them",
       "{}: {}", to_string(e), problem);
}

PyExpr foreign_call(const py::object& dtype, const std::string& function, bool pure,
                    const py::object& arguments) {
  return checked(
      make_foreign_call(to_type(dtype), function, pure, to_exprs(arguments), user_location()));
}

// A pointer into the buffer, `offset` elements after the first.
PyExpr pointer(const PyBuffer& b, bool reads, bool writes, const py::object& offset) {
  const Access access = reads && writes ? Access::ReadWrite : writes ? Access::Write : Access::Read;
  Exprs extents = b.node->extents;
  for (const int64_t extent : b.node->shape) {
    extents.push_back(make_int(extent, extent > INT32_MAX ? kInt64 : kInt32));
  }
  Exprs first(extents.size(), make_int(0));
  return checked(make_pointer(access, b.node, std::move(first), std::move(extents), to_expr(offset),
                              user_location()));
}

// A pointer to the box that begins at `indices` and has these `extents`.
PyExpr pointer_to_box(const PyBuffer& b, bool reads, bool writes, const py::object& indices,
                      const py::object& extents) {
  const Access access = reads && writes ? Access::ReadWrite : writes ? Access::Write : Access::Read;
  return checked(make_pointer(access, b.node, to_exprs(indices), to_exprs(extents), make_int(0),
                              user_location()));
}

PyStmt fragment_step(const std::string& op, const py::object& operands, bool left_transposed,
                     bool right_transposed) {
  for (const FragmentOp each :
       {FragmentOp::Fill, FragmentOp::Load, FragmentOp::Mma, FragmentOp::Store}) {
    if (to_string(each) != op) continue;
    Stmt s = make_fragment_step(each, to_exprs(operands), left_transposed, right_transposed,
                                user_location());
    const std::string problem = type_problem(s, {.logical = true});
    if (problem.empty()) return {std::move(s)};
    fail(s->location, Code::BadFragmentStep,
         "give pointers to parts of fragments and of memory of the same type, and a stride",
         "fragment.{}: {}", op, problem);
  }
  TL_UNREACHABLE();
}

// Turns a call with side effects into a statement; any other expression stays unchanged.
py::object evaluated(const PyExpr& e) {
  Stmt s = make_evaluate(e.node, user_location());
  if (!type_problem(s, {.logical = true}).empty()) return py::cast(e);
  return py::cast(PyStmt{std::move(s)});
}

}  // namespace

void bind_foreign(py::module_& m) {
  m.def("foreign_call", foreign_call);
  m.def("pointer", pointer);
  m.def("pointer_to_box", pointer_to_box);
  m.def("fragment_step", fragment_step);
  m.def("evaluated", evaluated);
}

}  // namespace texloom::python
