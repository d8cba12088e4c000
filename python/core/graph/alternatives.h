// Alternatives of nodes as Python gives them.
#pragma once

#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/compile/program.h"
#include "graph/graph.h"

namespace texloom::python {

// (name, program, cost, fold share, whether it may fail)
using AlternativeTuple =
    std::tuple<std::string, PyProgram, std::optional<double>, std::optional<double>, bool>;

std::vector<graph::Alternative> alternatives_of(const std::vector<AlternativeTuple>& given);

}  // namespace texloom::python
