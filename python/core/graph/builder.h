// Binds what builds graphs: texloom.graph.Graph adds its tensors and nodes by it.
#pragma once

#include <pybind11/pybind11.h>

#include "graph/graph.h"

namespace texloom::python {

void bind_builder(pybind11::class_<graph::Graph>& graphs);

}  // namespace texloom::python
