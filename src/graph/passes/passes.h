// The list of all passes over graphs.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "graph/graph.h"
#include "graph/passes/common/kernel_library.h"

namespace texloom::graph {

// A pass takes a verified graph and leaves it verified. A pass keeps the graph's inputs and outputs
// and their values, except for rounding where the header of the pass says so.
struct GraphPass {
  // A pass that depends on the target gets the target and the library of its kernels.
  using Run = void (*)(Graph&);
  using RunForTarget = void (*)(Graph&, const ir::Target&, const KernelLibrary&);

  std::string_view name;
  std::variant<Run, RunForTarget> run;
  std::string_view summary;
  bool is_default = true;  // if false, the pass runs only if it is named
  // Whether the operators that the pass makes have kernels over textures. If not, the pass does not
  // run by default where tensors are to be in textures.
  bool suits_textures = true;

  bool depends_on_target() const { return std::holds_alternative<RunForTarget>(run); }
};

// In the order they run.
std::span<const GraphPass> graph_passes();

// The pass of this name, or null.
const GraphPass* find_graph_pass(std::string_view name);

// The effect of a pass on the number of nodes.
struct GraphPassReport {
  std::string pass;
  std::size_t nodes_before = 0, nodes_after = 0;
};

// Runs passes in the given order, for the graph's target, and verifies the graph after each. Fails
// with UnknownName for a name that is not in the list.
std::vector<GraphPassReport> run_graph_passes(Graph& graph, std::span<const std::string> names,
                                              const SourceLocation& location,
                                              const KernelLibrary& kernels = {});

}  // namespace texloom::graph
