#include "graph/passes/merge_equal_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "graph/passes/common/remove_dead_nodes.h"
#include "graph/passes/moves/move.h"

namespace texloom::graph {
namespace {

using Key = std::tuple<std::string_view, std::vector<TensorId>, std::string, std::uint64_t>;

// Texts are equal if and only if the bits of the attributes are, so that NaNs have an order, too.
std::string text_of(const runtime::Attribute& attribute) {
  const auto& value = attribute.value;
  std::string text = fmt::format("{}:{}=", attribute.name.size(), attribute.name);
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    return text + std::to_string(*integer);
  if (const auto* number = std::get_if<double>(&value))
    return text + fmt::format("bits {:x}", std::bit_cast<std::uint64_t>(*number));
  const std::string& word = std::get<std::string>(value);
  return text + fmt::format("{}:{}", word.size(), word);
}

Key key_of(const Node& node) {
  std::string attributes;
  for (const runtime::Attribute& each : node.attributes) attributes += text_of(each) + ",";
  const std::uint64_t hash = node.computation ? structural_hash(*node.computation) : 0;
  return {node.op, node.inputs, std::move(attributes), hash};
}

// Whether two nodes of equal keys have equal computations.
bool compute_the_same(const Node& a, const Node& b) {
  if (!a.computation || !b.computation) return !a.computation && !b.computation;
  return a.computation == b.computation || equal(*a.computation, *b.computation);
}

// Adds the coordinates of an equal node, because only one of the two nodes may have marked them.
void add_coordinates(Node& kept, const Node& other) {
  std::vector<std::size_t> both;
  std::ranges::set_union(kept.coordinates, other.coordinates, std::back_inserter(both));
  kept.coordinates = std::move(both);
}

// Whether two nodes compute tensors of the same types and shapes.
bool agree_in_outputs(const Graph& graph, const Node& a, const Node& b) {
  return std::equal(a.outputs.begin(), a.outputs.end(), b.outputs.begin(), b.outputs.end(),
                    [&](TensorId x, TensorId y) {
                      return graph.tensors[x].type == graph.tensors[y].type &&
                             graph.tensors[x].shape == graph.tensors[y].shape;
                    });
}

// Makes nodes read the first of several equal constants.
void merge_equal_constants(const Graph& graph, std::vector<TensorId>& instead) {
  std::map<std::size_t, std::vector<TensorId>> first;  // of different constants, by size in bytes
  for (TensorId id = 0; id < graph.tensors.size(); ++id) {
    const Tensor& own = graph.tensors[id];
    if (own.role != TensorRole::Constant || own.value == nullptr) continue;
    std::vector<TensorId>& others = first[own.value->size()];
    const auto equal = std::ranges::find_if(others, [&](TensorId other) {
      const Tensor& each = graph.tensors[other];
      return each.type == own.type && each.shape == own.shape &&
             (each.value == own.value || *each.value == *own.value);
    });
    if (equal == others.end()) {
      others.push_back(id);
    } else {
      instead[id] = *equal;
    }
  }
}

// For tensors with the same elements in the same order: the tensors that views made of one tensor.
class Viewed {
 public:
  explicit Viewed(const Graph& graph) : graph_(graph), origin_(graph.tensors.size()) {
    std::iota(origin_.begin(), origin_.end(), 0);
  }

  // The tensor before views whose shape and type the output of the view has again; else nullopt.
  std::optional<TensorId> equal_before(const Node& node) {
    const auto move = move_of(graph_, node);
    if (!move || !move->keeps_order()) return std::nullopt;
    const TensorId made = node.outputs.front();
    const Tensor& own = graph_.tensors[made];
    if (own.type != graph_.tensors[node.inputs.front()].type) return std::nullopt;
    const TensorId origin = origin_[made] = origin_[node.inputs.front()];
    std::vector<TensorId>& all = made_[origin];
    if (all.empty()) all.push_back(origin);
    const auto found = std::ranges::find_if(
        all, [&](TensorId id) { return graph_.tensors[id].shape == own.shape; });
    if (found != all.end()) return *found;
    all.push_back(made);
    return std::nullopt;
  }

 private:
  const Graph& graph_;
  std::vector<TensorId> origin_;                    // by tensor: of which views made it
  std::map<TensorId, std::vector<TensorId>> made_;  // by origin, with the origin itself
};

bool writes_output(const Graph& graph, const Node& node) {
  return std::any_of(node.outputs.begin(), node.outputs.end(),
                     [&](TensorId id) { return graph.tensors[id].role == TensorRole::Output; });
}

}  // namespace

void merge_equal_nodes(Graph& graph) {
  std::vector<TensorId> instead(graph.tensors.size());
  std::iota(instead.begin(), instead.end(), 0);
  merge_equal_constants(graph, instead);
  Viewed viewed(graph);
  std::map<Key, std::size_t> first;  // the first node of each key; keys refer to nodes' strings
  std::vector<bool> is_merged(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    Node& node = graph.nodes[i];
    for (TensorId& id : node.inputs) id = instead[id];
    if (!node.pattern || !node.members.empty() || !node.alternatives.empty()) continue;
    if (const auto before = viewed.equal_before(node); before && !writes_output(graph, node)) {
      instead[node.outputs.front()] = *before;
      is_merged[i] = true;
      continue;
    }
    const auto [found, is_new] = first.try_emplace(key_of(node), i);
    Node& kept = graph.nodes[found->second];
    if (is_new || writes_output(graph, node) || !agree_in_outputs(graph, kept, node) ||
        !compute_the_same(kept, node))
      continue;
    for (std::size_t k = 0; k < node.outputs.size(); ++k)
      instead[node.outputs[k]] = kept.outputs[k];
    add_coordinates(kept, node);
    is_merged[i] = true;
  }
  first.clear();
  std::vector<Node> rest;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!is_merged[i]) rest.push_back(std::move(graph.nodes[i]));
  }
  graph.nodes = std::move(rest);
  remove_dead_nodes(graph);  // views that were between two merged ones
}

}  // namespace texloom::graph
