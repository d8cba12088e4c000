// Binds tasks, and the calls of schedulers in Python, which make alternatives for tasks.
#pragma once

#include <pybind11/pybind11.h>

#include "graph/graph.h"

namespace texloom::python {

// Adds functions that schedule operators to the class of graphs.
void bind_tasks(pybind11::module_& m, pybind11::class_<graph::Graph>& graphs);

}  // namespace texloom::python
