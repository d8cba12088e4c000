// The passes over graphs: the one list.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace texloom::graph {

// A pass takes and leaves a verified graph. It keeps the graph's inputs and outputs, and what they
// compute.
struct GraphPass {
  std::string_view name;
  void (*run)(Graph&);
  std::string_view summary;
  bool is_default = true;  // else it runs only where it is asked for
};

// In the order they run.
std::span<const GraphPass> graph_passes();

// The pass of this name, or null.
const GraphPass* find_graph_pass(std::string_view name);

// What a pass did to the number of nodes.
struct GraphPassReport {
  std::string pass;
  std::size_t nodes_before = 0, nodes_after = 0;
};

// Runs passes in the given order, and verifies the graph after each. Fails with UnknownName for a
// name that is not in the list.
std::vector<GraphPassReport> run_graph_passes(Graph& graph, std::span<const std::string> names,
                                              const SourceLocation& location);

}  // namespace texloom::graph
