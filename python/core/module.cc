// The extension module texloom._core.

#include "core/handles.h"

PYBIND11_MODULE(_core, m) {
  namespace python = texloom::python;
  m.doc() = "The C++ core of Texloom; use it through the package texloom.";
  // Messages name a class by the module from which scripts import it. A signature names a class
  // only if it was bound before.
  m.attr("__module__") = "texloom.te";
  python::bind_errors(m);
  python::bind_expressions(m);
  python::bind_nodes(m);
  python::bind_reductions(m);
  python::bind_tensors(m);
  python::bind_statements(m);
  python::bind_declared_buffers(m);
  python::bind_schedules(m);
  python::bind_stage_state(m);
  python::bind_foreign(m);
  python::bind_intrinsics(m);
  python::bind_operation_reads(m);
  m.attr("__module__") = "texloom.target";
  python::bind_targets(m);
  m.attr("__module__") = "texloom.runtime";
  python::bind_texture_plans(m);
  python::bind_devices(m);
  python::bind_arrays(m);
  python::bind_profiling(m);
  python::bind_functions(m);
  python::bind_programs(m);
  python::bind_custom_operators(m);
  python::bind_validation(m);
  python::bind_packages(m);
  python::bind_metallibs(m);
  python::bind_package_view(m);
  python::bind_arithmetic(m);
  python::bind_program_view(m);
  python::bind_buffer_planning(m);
  python::bind_graphs(m);
  python::py::delattr(m, "__module__");
}
