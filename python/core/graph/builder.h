// Binds the functions by which texloom.graph.Graph adds tensors and nodes.
#pragma once

#include <pybind11/pybind11.h>

#include "graph/graph.h"

namespace texloom::python {

void bind_builder(pybind11::class_<graph::Graph>& graphs);

}  // namespace texloom::python
