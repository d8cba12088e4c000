#include "graph/passes/seal.h"

#include "graph/passes/common/unused_tensors.h"
#include "support/diagnostic.h"

namespace texloom::graph {

Graph sealed(Graph graph) {
  bool had_members = false;
  for (Node& node : graph.nodes) {
    if (node.pattern && node.alternatives.empty())
      fail(node.location, Code::BadGraph, "give it an alternative: a schedule of its computation",
           "the operator '{}' has no kernel", node.name);
    had_members = had_members || !node.members.empty();
    node.members.clear();
  }
  if (had_members) remove_unused_tensors(graph);
  return graph;
}

}  // namespace texloom::graph
