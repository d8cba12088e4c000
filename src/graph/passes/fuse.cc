#include "graph/passes/fuse.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/analysis/pattern.h"
#include "graph/compose.h"
#include "graph/views.h"

namespace texloom::graph {
namespace {

using NodeId = std::size_t;  // an index into Graph::nodes

// Operators that become one. Only the output of the last one may be read by other operators.
using Group = std::set<NodeId>;

// Whether the node is an operator that may be a member. A view that needs no kernel may not be a
// member, nor may a permutation that may need none.
bool is_single(const Graph& graph, const Node& node) {
  return node.pattern && *node.pattern != Pattern::Opaque && node.outputs.size() == 1 &&
         node.members.empty() && node.alternatives.empty() &&
         !((node.is_view || moves_channels_of_convolution(graph, node)) &&
           may_share_memory(graph, node));
}

// Whether computing an element of the output takes more than a few operations.
bool is_heavy(const Node& node) {
  return *node.pattern == Pattern::Reduction || *node.pattern == Pattern::Contraction;
}

// Whether the operator reads inputs that have the shape of its output at the output's indices.
bool is_at_own_indices(const Node& node) {
  return *node.pattern == Pattern::Elementwise || *node.pattern == Pattern::Broadcast;
}

// Light operators that a move takes in together.
inline constexpr std::size_t kMostLight = 4;

class Fusion {
 public:
  explicit Fusion(const Graph& graph)
      : graph_(graph), producer_(graph.tensors.size()), readers_(graph.tensors.size()) {
    for (NodeId n = 0; n < graph.nodes.size(); ++n) {
      groups_.push_back({n});
      facts_.push_back(facts_of(graph.nodes[n]));
      for (const TensorId id : graph.nodes[n].outputs) producer_[id] = n;
      for (const TensorId id : graph.nodes[n].inputs) readers_[id].insert(n);
    }
  }

  // The groups by their last node; the entries of other nodes are empty.
  std::vector<Group> run() {
    for (NodeId n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      if (!facts_[n].is_single || (is_heavy(node) && !facts_[n].rows)) continue;
      while (take_in_one(groups_[n])) {
      }
    }
    return std::move(groups_);
  }

  // Tensors that members read but do not compute, in the order of first use.
  std::vector<TensorId> inputs_of(const Group& group) const {
    std::vector<TensorId> inputs;
    for (const NodeId n : group) {
      for (const TensorId id : graph_.nodes[n].inputs) {
        const bool is_inner = producer_[id] && group.contains(*producer_[id]);
        if (!is_inner && std::find(inputs.begin(), inputs.end(), id) == inputs.end())
          inputs.push_back(id);
      }
    }
    return inputs;
  }

 private:
  // Merges a group that computes an input of this group, if the rules allow that. First tries the
  // group that is computed last, which is on the longest path. So a residual addition joins the
  // convolution before it, not the operator where the residual connection starts.
  bool take_in_one(Group& group) {
    std::vector<TensorId> inputs = inputs_of(group);
    std::erase_if(inputs, [&](TensorId id) { return !producer_[id]; });
    std::sort(inputs.begin(), inputs.end(),
              [&](TensorId a, TensorId b) { return *producer_[a] > *producer_[b]; });
    for (const TensorId id : inputs) {
      Group& other = groups_[*producer_[id]];
      if (!may_join(other, group, id)) continue;
      group.merge(other);
      other.clear();
      return true;
    }
    return false;
  }

  // What is known of an operator that may be a member.
  struct Facts {
    bool is_single = false, moves = false, is_light = false;
    bool repeats_nothing = false;  // a move without more elements than its inputs have
    std::optional<TensorId> rows;  // the tensor whose rows the operator reduces
  };

  Facts facts_of(const Node& node) const {
    Facts facts;
    facts.is_single = is_single(graph_, node);
    if (!facts.is_single || !node.computation) return facts;
    facts.moves = only_moves(*node.computation);
    facts.is_light = is_light(*node.computation);
    facts.repeats_nothing = facts.moves && has_no_more_elements(node);
    const auto reduced =
        *node.pattern == Pattern::Reduction ? input_of_rows(*node.computation) : std::nullopt;
    if (reduced) facts.rows = node.inputs[*reduced];
    return facts;
  }

  bool has_no_more_elements(const Node& node) const {
    const auto elements = [&](const std::vector<TensorId>& ids) -> std::optional<std::int64_t> {
      std::int64_t sum = 0;
      for (const TensorId id : ids) {
        const auto shape = numbers_of(graph_.tensors[id].shape);
        if (!shape) return std::nullopt;
        sum += std::accumulate(shape->begin(), shape->end(), std::int64_t{1}, std::multiplies<>());
      }
      return sum;
    };
    const auto read = elements(node.inputs), written = elements(node.outputs);
    return read && written && *written <= *read;
  }

  bool may_join(const Group& producers, const Group& group, TensorId tensor) const {
    if (!facts_[*producer_[tensor]].is_single ||
        graph_.tensors[tensor].role != TensorRole::Intermediate)
      return false;
    const std::set<NodeId>& readers = readers_[tensor];
    const bool is_inner = std::includes(group.begin(), group.end(), readers.begin(), readers.end());
    if (!is_inner || !fits(producers, group)) return false;
    if (are_all(producers, &Facts::moves)) return !has_heavy(readers);
    if (are_all(readers, &Facts::repeats_nothing) && are_all(producers, &Facts::is_light) &&
        producers.size() <= kMostLight)
      return true;
    const auto of_producers = rows_of(producers), of_group = rows_of(group);
    const bool are_rows = of_producers && of_group && *of_producers == *of_group;
    if (has_heavy(producers) && has_heavy(group) && !are_rows) return false;
    const Shape& shape = graph_.tensors[tensor].shape;
    const Shape& whole = of_group ? *of_group : shape_of(*group.rbegin());
    if (shape != whole && !(of_producers && is_one_per_row(shape, whole))) return false;
    return std::all_of(readers.begin(), readers.end(), [&](NodeId n) {
      const Node& node = graph_.nodes[n];
      const bool is_whole = shape_of(n) == whole;
      if (facts_[n].rows) return shape == whole;
      return is_at_own_indices(node) &&
             (is_whole || (shape != whole && is_one_per_row(shape_of(n), whole)));
    });
  }

  // The shape of the rows that members reduce; nullopt if there are none, or if a member is another
  // reduction or a contraction.
  std::optional<Shape> rows_of(const Group& group) const {
    std::optional<Shape> rows;
    for (const NodeId n : group) {
      const Node& node = graph_.nodes[n];
      if (!is_heavy(node)) continue;
      if (!facts_[n].rows) return std::nullopt;
      rows = graph_.tensors[*facts_[n].rows].shape;
    }
    return rows;
  }

  // Whether a shape is that of rows, with one element in each row.
  static bool is_one_per_row(const Shape& shape, Shape rows) {
    if (rows.empty()) return false;
    rows.back() = 1;
    return shape == rows;
  }

  bool fits(const Group& producers, const Group& group) const {
    Group both = producers;
    both.insert(group.begin(), group.end());
    return both.size() <= kMostMembers && inputs_of(both).size() + 1 <= kMostTensors;
  }

  bool are_all(const std::set<NodeId>& nodes, bool Facts::* fact) const {
    return std::ranges::all_of(nodes, [&](NodeId n) { return facts_[n].*fact; });
  }

  bool has_heavy(const std::set<NodeId>& nodes) const {
    return std::ranges::any_of(nodes, [&](NodeId n) { return is_heavy(graph_.nodes[n]); });
  }

  const Shape& shape_of(NodeId n) const {
    return graph_.tensors[graph_.nodes[n].outputs.front()].shape;
  }

  const Graph& graph_;
  std::vector<std::optional<NodeId>> producer_;  // per tensor; nullopt for inputs and constants
  std::vector<std::set<NodeId>> readers_;        // indexed by tensor
  std::vector<Group> groups_;                    // indexed by the last node of the group
  std::vector<Facts> facts_;                     // by node
};

// The fused operator that replaces these members.
Node fused(const Graph& graph, std::vector<TensorId> inputs, std::vector<Node> members) {
  Node node;
  node.name = members.back().name;
  node.location = members.back().location;
  node.inputs = std::move(inputs);
  node.outputs = members.back().outputs;
  node.pattern = Pattern::Elementwise;
  for (const Node& member : members) {
    node.op += (node.op.empty() ? "" : "+") + member.op;
    node.pattern = std::max(*node.pattern, *member.pattern);
  }
  node.members = std::move(members);
  node.computation = composed(graph, node);
  return node;
}

// The members of an operator: itself, if it is not fused.
std::vector<Node> members_of(const Node& node) {
  return node.members.empty() ? std::vector<Node>{node} : node.members;
}

bool reads(const Node& node, TensorId id) {
  return std::find(node.inputs.begin(), node.inputs.end(), id) != node.inputs.end();
}

}  // namespace

bool join(Graph& graph, std::size_t producer, std::size_t reader) {
  const auto is_joinable = [](const Node& node) {
    return node.pattern && *node.pattern != Pattern::Opaque && node.outputs.size() == 1 &&
           node.alternatives.empty();
  };
  const Node& first = graph.nodes.at(producer);
  const Node& second = graph.nodes.at(reader);
  if (!is_joinable(first) || !is_joinable(second)) return false;
  const TensorId inner = first.outputs.front();
  const auto readers = std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                     [&](const Node& node) { return reads(node, inner); });
  if (graph.tensors[inner].role != TensorRole::Intermediate || readers != 1 ||
      !reads(second, inner))
    return false;
  std::vector<TensorId> inputs = first.inputs;
  for (const TensorId id : second.inputs) {
    const bool is_new = std::find(inputs.begin(), inputs.end(), id) == inputs.end();
    if (id != inner && is_new) inputs.push_back(id);
  }
  std::vector<Node> members = members_of(first);
  for (Node& member : members_of(second)) members.push_back(std::move(member));
  if (members.size() > kMostMembers || inputs.size() + 1 > kMostTensors) return false;
  graph.nodes[reader] = fused(graph, std::move(inputs), std::move(members));
  graph.nodes.erase(graph.nodes.begin() + static_cast<std::ptrdiff_t>(producer));
  return true;
}

void fuse(Graph& graph) {
  Fusion fusion(graph);
  const std::vector<Group> groups = fusion.run();
  std::vector<Node> nodes;
  for (const Group& group : groups) {
    if (group.empty()) continue;
    if (group.size() == 1) {
      nodes.push_back(std::move(graph.nodes[*group.begin()]));
      continue;
    }
    std::vector<TensorId> inputs = fusion.inputs_of(group);
    std::vector<Node> members;
    for (const NodeId n : group) members.push_back(std::move(graph.nodes[n]));
    nodes.push_back(fused(graph, std::move(inputs), std::move(members)));
  }
  graph.nodes = std::move(nodes);
}

}  // namespace texloom::graph
