// Prints and parses the text form of graphs, stage `graph` (docs/text_form.md): the tensors and the
// nodes of the graph, then the schedule of each alternative as a program of stage te. Equal
// schedules are printed once.
//
// The values of constants are not part of the text.
#pragma once

#include <string>
#include <string_view>

#include "graph/graph.h"

namespace texloom::graph {

// The text of a verified graph.
std::string to_string(const Graph& graph);

// Whether a text is the text form of a graph.
bool is_graph_text(std::string_view text);

// The inverse of to_string; `file` is the name of the text in diagnostics. Throws a UserError with
// SyntaxError or BadText for the text, like lower::parse_lowering() for its programs, and like
// verify() for the graph.
Graph parse_graph(std::string_view text, std::string_view file);

}  // namespace texloom::graph
