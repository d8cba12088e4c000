// Binds the operators of graphs, and the passes over them.
#pragma once

#include <pybind11/pybind11.h>

#include "graph/graph.h"

namespace texloom::python {

// Adds what builds, rewrites and schedules operators to the class of graphs.
void bind_operators(pybind11::module_& m, pybind11::class_<graph::Graph>& graphs);

}  // namespace texloom::python
