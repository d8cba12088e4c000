// Binds reductions over axes, with te's reducers and with user-defined reducers.

#include <pybind11/stl.h>

#include "core/handles.h"
#include "schedule/operation/operators.h"
#include "support/diagnostic.h"

namespace texloom::python {

using namespace ir;  // the whole file works on IR nodes

namespace {

IterVar axis_of(const py::handle& value) {
  if (py::isinstance<PyIterVar>(value)) return value.cast<const PyIterVar&>().node;
  fail(user_location(), Code::BadReduction, "make the axis with te.reduce_axis((begin, end))",
       "cannot reduce over '{}': it is not a reduction axis", py::str(value).cast<std::string>());
}

schedule::ReductionDomain domain(const py::list& axes, const py::object& where,
                                 const py::object& init) {
  schedule::ReductionDomain d;
  for (const py::handle& axis : axes) d.axes.push_back(axis_of(axis));
  if (!where.is_none()) d.condition = to_expr(where);
  if (!init.is_none()) d.init = to_exprs(init);
  return d;
}

// Returns one expression for each of the values that are reduced together.
std::vector<PyExpr> reduce_by(const std::string& name, const py::list& lhs, const py::list& rhs,
                              const py::list& results, const py::list& identities,
                              const py::list& sources, const schedule::ReductionDomain& domain) {
  Reducer reducer{to_exprs(lhs), to_exprs(rhs), to_exprs(results), to_exprs(identities), name};
  const Expr e = schedule::reduce(std::move(reducer), to_exprs(sources), domain, user_location());
  std::vector<PyExpr> values;
  for (size_t i = 0; i < sources.size(); ++i) values.push_back({e, i});
  return values;
}

}  // namespace

void bind_reductions(py::module_& m) {
  py::class_<schedule::ReductionDomain>(m, "ReductionDomain").def(py::init(&domain));
  const auto reduction = [&m](const char* name, schedule::Reduction kind) {
    m.def(name, [kind](const py::object& source, const schedule::ReductionDomain& domain) {
      return PyExpr{schedule::reduce(kind, to_expr(source), domain, user_location())};
    });
  };
  reduction("reduce_sum", schedule::Reduction::Sum);
  reduction("reduce_min", schedule::Reduction::Min);
  reduction("reduce_max", schedule::Reduction::Max);
  m.def("reduce_by", reduce_by);
}

}  // namespace texloom::python
