// The text form of computations: their tensors by name, then the operations that compute them, in
// the text form of schedules.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "graph/computation.h"

namespace texloom::graph {

// Begins with "computation 3 (in0, in1) -> (out)" for the number 3.
std::string to_string(const Computation& computation, std::size_t number);

// Parses the text of to_string(), with any number. `text` is a whole file in which all other parts
// are blanked, so that diagnostics have the right lines.
SharedComputation parse_computation(std::string_view text, std::string_view file);

}  // namespace texloom::graph
