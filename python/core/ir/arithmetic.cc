// Binds the simplifier and prover.

#include "core/handles.h"
#include "ir/arith/simplify.h"
#include "ir/program.h"

namespace texloom::python {

using namespace ir;  // the whole file works on IR nodes

namespace {

// The ranges of variables, and the variables. Ranges are found by a variable's address, so the
// variables must stay alive.
struct PyAnalyzer {
  arith::Ranges ranges;
  Exprs variables;

  void bind(const Expr& variable, int64_t first, int64_t extent) {
    ranges.set(variable, {first, first + extent - 1});
    variables.push_back(variable);
  }
};

}  // namespace

void bind_arithmetic(py::module_& m) {
  py::class_<PyAnalyzer>(m, "Analyzer", "Simplifies expressions, given ranges of variables.")
      .def(py::init<>())
      .def("_bind",
           [](PyAnalyzer& a, const py::object& variable, int64_t first, int64_t extent) {
             const Expr node = to_expr(variable);
             if (as<Var>(node) == nullptr) {
               fail(user_location(), Code::BadArgument, "bind a variable that te.var made",
                    "cannot bind {}: it is not a variable", to_string(node));
             }
             if (extent < 1) {
               fail(user_location(), Code::BadShape, "give a Range of at least one value",
                    "cannot bind '{}' to a range of {} values", as<Var>(node)->name, extent);
             }
             a.bind(node, first, extent);
           })
      .def(
          "simplify",
          [](const PyAnalyzer& a, const py::object& expr) {
            return PyExpr{arith::simplify(to_expr(expr), a.ranges)};
          },
          py::arg("expr"), "An equal expression, simplified if possible.")
      .def(
          "_bounds",
          [](const PyAnalyzer& a, const py::object& expr) {
            const arith::Interval interval = arith::bounds(to_expr(expr), a.ranges);
            const auto end = [](bool known, int64_t value) {
              return known ? py::object(py::int_(value)) : py::none();
            };
            return py::make_tuple(end(interval.has_min(), interval.min),
                                  end(interval.has_max(), interval.max));
          },
          "Bounds of the integer expression's value, lowest and highest; None if unknown.")
      .def(
          "can_prove",
          [](const PyAnalyzer& a, const py::object& condition) {
            return arith::prove(to_expr(condition), a.ranges);
          },
          py::arg("expr"), "Whether the condition is proved for all values.");
}

}  // namespace texloom::python
