// Binds the passes over graphs.
#pragma once

#include <pybind11/pybind11.h>

#include "graph/graph.h"

namespace texloom::python {

// Adds functions that run passes to the class of graphs, and the list of passes to the module.
void bind_graph_passes(pybind11::module_& m, pybind11::class_<graph::Graph>& graphs);

}  // namespace texloom::python
