#include "graph/passes/join_in_place.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "graph/analysis/pattern.h"
#include "graph/stored.h"
#include "ir/layout/layout.h"

namespace texloom::graph {
namespace {

using NodeId = std::size_t;  // an index into Graph::nodes

std::optional<std::size_t> joined_axis(const Node& node) {
  if (!node.pattern || !node.members.empty() || !node.alternatives.empty()) return std::nullopt;
  return node.joins_along;
}

std::int64_t elements_of(const ir::Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

class Joining {
 public:
  Joining(Graph& graph, bool has_channels_last)
      : graph_(graph),
        has_channels_last_(has_channels_last),
        producer_(graph.tensors.size()),
        readers_(graph.tensors.size()),
        is_placed_(graph.tensors.size()) {
    for (NodeId n = 0; n < graph.nodes.size(); ++n) {
      const Node& node = graph.nodes[n];
      for (const TensorId id : node.outputs) producer_[id] = n;
      for (const TensorId id : node.inputs) ++readers_[id];
      if (!node.is_view && !node.concat_axis) continue;
      for (const TensorId id : tensors_of(node)) is_placed_[id] = true;
    }
  }

  void run() {
    std::vector<std::pair<NodeId, std::size_t>> joins;  // the joining nodes with their axes
    for (NodeId n = 0; n < graph_.nodes.size(); ++n) {
      const auto axis = joined_axis(graph_.nodes[n]);
      if (axis && has_known_size(graph_.nodes[n])) joins.emplace_back(n, *axis);
    }
    // Largest first: if two concatenations follow each other, the larger one copies more.
    std::stable_sort(joins.begin(), joins.end(), [&](const auto& a, const auto& b) {
      return elements_of(whole_of(graph_.nodes[a.first])) >
             elements_of(whole_of(graph_.nodes[b.first]));
    });
    for (const auto& [n, axis] : joins) {
      Node& node = graph_.nodes[n];
      if (!may_share(node) || computes_part(node, axis)) continue;
      if (!is_aligned_buffer(node, axis) && !is_texels(node, axis)) continue;
      node.concat_axis = axis;
      node.pattern.reset();
      node.computation.reset();
      node.joins_along.reset();
      for (const TensorId id : tensors_of(node)) is_placed_[id] = true;
    }
  }

 private:
  // The place of a tensor of an open size is unknown before a run.
  bool has_known_size(const Node& node) const {
    const std::vector<TensorId> tensors = tensors_of(node);
    return std::all_of(tensors.begin(), tensors.end(), [&](TensorId id) {
      return numbers_of(graph_.tensors[id].shape).has_value();
    });
  }
  ir::Shape shape_of(TensorId id) const { return *numbers_of(graph_.tensors[id].shape); }
  ir::Shape whole_of(const Node& node) const { return shape_of(node.outputs.front()); }

  // Whether all tensors of the node are temporaries whose places in memory are still undecided, and
  // at most one part only moves elements: `fuse` would put several such parts into one kernel.
  bool may_share(const Node& node) const {
    std::set<TensorId> different;
    std::size_t moves = 0;
    const ir::Type type = graph_.tensors[node.outputs.front()].type;
    for (const TensorId id : tensors_of(node)) {
      if (graph_.tensors[id].type != type) return false;
      if (graph_.tensors[id].role != TensorRole::Intermediate || is_placed_[id]) return false;
      if (!different.insert(id).second) return false;
      moves += graph_.nodes[*producer_[id]].pattern == Pattern::Injective;
    }
    return moves <= 2;  // this operator itself is one of them
  }

  // Whether the kernel of the operator computes a part, such as an upsampled image, that would else
  // need a kernel beside the one that copies: channels of images with channels last are copied.
  bool computes_part(const Node& node, std::size_t axis) const {
    if (!has_channels_last_ || axis != 1 || whole_of(node).size() < 3) return false;
    return std::ranges::any_of(node.inputs, [&](TensorId id) {
      const Node& part = graph_.nodes[*producer_[id]];
      return part.pattern == Pattern::Reduction && is_plain(part) && readers_[id] == 1 &&
             is_light(*part.computation);
    });
  }

  bool is_aligned_buffer(const Node& node, std::size_t axis) const {
    const ir::Shape whole = shape_of(node.outputs.front());
    for (std::size_t a = 0; a < axis; ++a) {
      if (whole[a] != 1) return false;
    }
    const std::int64_t bytes = graph_.tensors[node.outputs.front()].type.bytes();
    std::int64_t begin = 0;
    return std::all_of(node.inputs.begin(), node.inputs.end(), [&](TensorId id) {
      const bool is_aligned = begin % static_cast<std::int64_t>(kBufferAlignment) == 0;
      begin += elements_of(shape_of(id)) * bytes;
      return is_aligned;
    });
  }

  // Whether the node joins channels of [N, C, H, W], and each part begins at a whole texel.
  bool is_texels(const Node& node, std::size_t axis) const {
    return axis == 1 && graph_.tensors[node.outputs.front()].shape.size() == 4 &&
           std::all_of(node.inputs.begin(), node.inputs.end() - 1,
                       [&](TensorId id) { return shape_of(id)[axis] % ir::kTexelLanes == 0; });
  }

  Graph& graph_;
  bool has_channels_last_;                       // of images next to convolutions
  std::vector<std::optional<NodeId>> producer_;  // per tensor; nullopt for inputs and constants
  std::vector<std::size_t> readers_;             // per tensor
  std::vector<bool> is_placed_;  // for each tensor, whether a view or a concatenation places it
};

}  // namespace

void join_in_place(Graph& graph, const ir::Target& /*target*/, const KernelLibrary& kernels) {
  Joining(graph, kernels.has_channels_last).run();
}

}  // namespace texloom::graph
