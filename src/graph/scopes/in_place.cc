#include "graph/scopes/in_place.h"

#include <algorithm>
#include <set>

#include "graph/image_use.h"

namespace texloom::graph {
namespace {

bool is_among(TensorId tensor, const std::vector<TensorId>& list) {
  return std::find(list.begin(), list.end(), tensor) != list.end();
}

// Whether all tensors of the concatenation are temporaries of the graph, each part belongs only to
// this concatenation, and the whole is not a part of another concatenation.
bool are_edges_of_one(const Graph& graph, const Node& node) {
  for (const TensorId tensor : tensors_of(node)) {
    if (graph.tensors[tensor].role != TensorRole::Intermediate) return false;
  }
  std::set<TensorId> parts;
  for (const TensorId part : node.inputs) {
    if (!parts.insert(part).second) return false;
  }
  for (const Node& other : graph.nodes) {
    if (!other.concat_axis || &other == &node) continue;
    for (const TensorId tensor : tensors_of(node)) {
      if (is_among(tensor, other.inputs) || is_among(tensor, other.outputs)) return false;
    }
  }
  return true;
}

// Whether a user of one of the concatenation's tensors relies on the tensor to begin at the corner
// of its image: custom operators do, and so do kernels that need an image of exactly the tensor's
// extent.
bool needs_corner(const Graph& graph, const Node& node) {
  const std::vector<TensorId> tensors = tensors_of(node);
  const ImageUse images(graph);
  for (const TensorId tensor : tensors) {
    if (images.is_exact(tensor)) return true;
  }
  const auto is_here = [&](TensorId tensor) { return is_among(tensor, tensors); };
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& other) {
    return other.call && (std::any_of(other.inputs.begin(), other.inputs.end(), is_here) ||
                          std::any_of(other.outputs.begin(), other.outputs.end(), is_here));
  });
}

// Whether a node reads one part of the concatenation and writes another part.
bool reads_and_writes(const Graph& graph, const Node& node) {
  const auto is_part = [&](TensorId tensor) { return is_among(tensor, node.inputs); };
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& other) {
    return std::any_of(other.inputs.begin(), other.inputs.end(), is_part) &&
           std::any_of(other.outputs.begin(), other.outputs.end(), is_part);
  });
}

}  // namespace

std::optional<std::vector<PartPlace>> places_in(const Graph& graph, const Node& node,
                                                const std::vector<Stored>& stored,
                                                int64_t buffer_alignment) {
  const std::vector<Stored> parts(stored.begin(), stored.end() - 1);
  const bool is_open =
      std::any_of(stored.begin(), stored.end(), [](const Stored& each) { return each.is_open; });
  if (!are_edges_of_one(graph, node) || is_open) return std::nullopt;
  if (stored.back().is_texture() && (needs_corner(graph, node) || reads_and_writes(graph, node)))
    return std::nullopt;
  auto places = part_places(parts, stored.back(), *node.concat_axis);
  if (!places || stored.back().is_texture()) return places;
  const int64_t bytes = graph.tensors[node.outputs.front()].type.bytes();
  const bool aligned = std::all_of(places->begin(), places->end(), [&](const PartPlace& place) {
    return place.col * bytes % buffer_alignment == 0;
  });
  if (!aligned) places.reset();
  return places;
}

bool may_fold(const Graph& graph, TensorId tensor) {
  if (graph.tensors[tensor].role != TensorRole::Intermediate) return false;
  for (const Node& node : graph.nodes) {
    if ((node.call || node.concat_axis) && is_among(tensor, tensors_of(node))) return false;
    // All outputs of a computation have the same storage.
    if (node.outputs.size() > 1 && is_among(tensor, node.outputs)) return false;
  }
  return !ImageUse(graph).is_exact(tensor);
}

}  // namespace texloom::graph
