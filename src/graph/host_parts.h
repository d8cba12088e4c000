// Splits a graph into parts for the host and the rest for a device.
//
//     conv -> shape -> gather -> conv2        "shape" and "gather" are on the host
//     conv -> part0 -> conv2                  part0 is a call, whose payload is shape -> gather
//
// The split comes before the passes over graphs, so that nothing is fused across it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "runtime/plan/plan.h"

namespace texloom::graph {

// Nodes that run on the host one after another, without a node of the device in between.
struct HostPart {
  std::vector<std::size_t> nodes;  // in the graph's order
  std::vector<TensorId> inputs;    // tensors of other nodes and of callers that the part reads
  std::vector<TensorId> outputs;   // tensors of the part that others read
};

// As few parts as there can be if each node runs as early as its inputs allow. `on_host` is by
// node. No path leads from a part through a node of the device to the same part.
std::vector<HostPart> host_parts(const Graph& graph, const std::vector<bool>& on_host);

// The part as a graph of its own, for the same target. Its inputs and outputs are those of the
// part.
Graph graph_of(const Graph& graph, const HostPart& part, std::string name);

// The graph with a call in place of each part. `payloads` are the packages of the parts, and
// `target` is their target as text.
Graph with_calls(const Graph& graph, const std::vector<bool>& on_host,
                 std::span<const std::vector<std::byte>> payloads, const std::string& target);

}  // namespace texloom::graph
