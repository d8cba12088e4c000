#include "graph/passes/moves/compose_moves.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "graph/analysis/pattern.h"
#include "graph/compose.h"
#include "graph/passes/common/remove_dead_nodes.h"
#include "graph/views.h"

namespace texloom::graph {
namespace {

using NodeId = std::size_t;  // an index into Graph::nodes

inline constexpr std::size_t kMostComposed = 12;  // moves whose expressions become one

enum class Kind : std::uint8_t {
  Other,
  View,  // a move that shares memory, and needs no kernel
  Move,
};

// What a move becomes: itself, and the moves and views before it that it takes in.
struct Whole {
  std::set<NodeId> members;
  std::vector<TensorId> sources;  // each once
  std::size_t moves = 1;          // without views
};

class Composing {
 public:
  explicit Composing(Graph& graph)
      : graph_(graph),
        kinds_(graph.nodes.size()),
        readers_(graph.tensors.size()),
        producers_(producers_of(graph)) {
    for (NodeId n = 0; n < graph.nodes.size(); ++n) {
      kinds_[n] = kind_of(graph.nodes[n]);
      for (const TensorId id : graph.nodes[n].inputs) readers_[id].insert(n);
    }
  }

  void run() {
    do {
      find_vanishing();
    } while (!find_wholes());
    std::vector<std::pair<NodeId, Node>> made;
    for (const auto& [n, whole] : wholes_) {
      if (!vanishes_[n] && whole.moves > 1) made.emplace_back(n, composed_node(n, whole));
    }
    for (auto& [n, node] : made) graph_.nodes[n] = std::move(node);
    remove_dead_nodes(graph_);
  }

 private:
  Kind kind_of(const Node& node) const {
    const bool moves = node.pattern && *node.pattern <= Pattern::Injective && is_plain(node) &&
                       node.coordinates.empty() && only_moves(*node.computation);
    if (!moves || moves_channels_of_convolution(graph_, node)) return Kind::Other;
    return node.is_view && may_share_memory(graph_, node) ? Kind::View : Kind::Move;
  }

  // Decides which moves are no kernels afterwards, readers first.
  void find_vanishing() {
    vanishes_.assign(graph_.nodes.size(), false);
    for (NodeId n = graph_.nodes.size(); n-- > 0;) {
      const bool joins = graph_.nodes[n].joins_along.has_value();
      vanishes_[n] =
          kinds_[n] == Kind::Move && !kept_.contains(n) && are_all_readers(n, [&](NodeId reader) {
            if (kinds_[reader] != Kind::Move) return false;
            return !graph_.nodes[reader].joins_along || (!joins && vanishes_[reader]);
          });
    }
  }

  // Whether a node has readers, also through views, which all fit, and no output of the graph.
  template <class Fits>
  bool are_all_readers(NodeId n, const Fits& fit) const {
    const TensorId id = graph_.nodes[n].outputs.front();
    if (graph_.tensors[id].role != TensorRole::Intermediate || readers_[id].empty()) return false;
    return std::ranges::all_of(readers_[id], [&](NodeId reader) {
      return kinds_[reader] == Kind::View ? are_all_readers(reader, fit) : fit(reader);
    });
  }

  // Finds what each move becomes. False if one would be too large: what it takes in is kept then.
  bool find_wholes() {
    wholes_.clear();
    for (NodeId n = 0; n < graph_.nodes.size(); ++n) {
      if (kinds_[n] != Kind::Move) continue;
      std::set<NodeId> taken;
      const Whole& whole = wholes_.emplace(n, whole_of(n, taken)).first->second;
      if (whole.sources.size() <= kMostSources && whole.moves <= kMostComposed) continue;
      if (taken.empty()) continue;
      kept_.merge(taken);
      return false;
    }
    return true;
  }

  // `taken`: the nearest moves that vanish.
  Whole whole_of(NodeId n, std::set<NodeId>& taken) const {
    Whole whole{.members = {n}, .sources = {}};
    const auto add_source = [&](TensorId id) {
      if (std::ranges::find(whole.sources, id) == whole.sources.end()) whole.sources.push_back(id);
    };
    for (const TensorId id : graph_.nodes[n].inputs) {
      std::set<NodeId> views;
      auto producer = producers_.find(id);
      while (producer != producers_.end() && kinds_[producer->second] == Kind::View) {
        views.insert(producer->second);
        producer = producers_.find(graph_.nodes[producer->second].inputs.front());
      }
      if (producer == producers_.end() || !vanishes_[producer->second]) {
        add_source(id);
        continue;
      }
      const Whole& before = wholes_.at(producer->second);
      if (taken.insert(producer->second).second) whole.moves += before.moves;
      whole.members.merge(views);
      whole.members.insert(before.members.begin(), before.members.end());
      std::ranges::for_each(before.sources, add_source);
    }
    return whole;
  }

  Node composed_node(NodeId n, const Whole& whole) const {
    Node node = graph_.nodes[n];
    node.inputs = whole.sources;
    node.attributes.clear();
    node.op.clear();
    for (const NodeId member : whole.members) {
      node.members.push_back(graph_.nodes[member]);
      if (kinds_[member] == Kind::Move)
        node.op += (node.op.empty() ? "" : "+") + graph_.nodes[member].op;
    }
    node.computation = composed(graph_, node);
    node.members.clear();
    node.pattern = Pattern::Injective;
    node.is_view = false;
    node.joins_along.reset();
    return node;
  }

  Graph& graph_;
  std::vector<Kind> kinds_;                // by node
  std::vector<std::set<NodeId>> readers_;  // by tensor
  Producers producers_;
  std::set<NodeId> kept_ = {};  // moves that would make their readers too large
  std::vector<bool> vanishes_ = {};
  std::map<NodeId, Whole> wholes_ = {};  // by move
};

}  // namespace

void compose_moves(Graph& graph) { Composing(graph).run(); }

}  // namespace texloom::graph
