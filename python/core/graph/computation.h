// Computations of graphs as Python objects.
#pragma once

#include <vector>

#include "core/handles.h"
#include "graph/computation.h"

namespace texloom::python {

struct PyComputation {
  graph::SharedComputation node;
};

std::vector<PyTensor> wrapped(const std::vector<ir::Tensor>& tensors);

void bind_computations(py::module_& m);

}  // namespace texloom::python
