// Computations of graphs as Python objects.
#pragma once

#include "core/handles.h"
#include "graph/computation.h"

namespace texloom::python {

struct PyComputation {
  graph::SharedComputation node;
};

void bind_computations(py::module_& m);

}  // namespace texloom::python
