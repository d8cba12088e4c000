// Binds the compilation of graphs, and the summary of its decisions.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "core/graph/runnable_graph.h"

namespace texloom::python {

using CompiledGraphClass =
    pybind11::class_<PyCompiledGraph, PyRunnableGraph, std::shared_ptr<PyCompiledGraph>>;

void bind_compilation(pybind11::module_& m, pybind11::class_<graph::Graph>& graphs,
                      CompiledGraphClass& compiled);

}  // namespace texloom::python
