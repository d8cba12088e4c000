// Converts the extents of graphs between Python and C++, for python/texloom/extents.py.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <vector>

#include "graph/graph.h"
#include "runtime/package/package.h"
#include "runtime/plan/symbols.h"

namespace texloom::python {

namespace py = pybind11;

// An extent is a number, or the list of the steps of an expression in postfix order. A step has an
// operation and a number, which only constants and symbols use: ("symbol", 1), ("add", 0).
runtime::Size size_of(const py::handle& extent);
graph::Shape shape_of(const py::sequence& extents);
py::object extent_of(const runtime::Size& size);
py::tuple extents_of(const std::vector<runtime::Size>& shape);

// The shapes of the outputs of a package's variant, for shapes of its inputs. Fails with WrongShape
// if the shapes of the inputs do not match the package.
std::vector<runtime::Shape> output_shapes(const runtime::Package& package, std::size_t variant,
                                          const std::vector<runtime::Shape>& inputs);

}  // namespace texloom::python
