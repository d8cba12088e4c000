#include "graph/passes/moves/compose_moves.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "graph/analysis/pattern.h"
#include "graph/compose.h"
#include "graph/passes/common/remove_dead_nodes.h"
#include "graph/views.h"

namespace texloom::graph {
namespace {

using NodeId = std::size_t;  // an index into Graph::nodes

inline constexpr std::size_t kMostComposed = 12;  // whose expressions are one in the end

// A reader that is a kernel, and the views by which it reads what a move writes.
struct Reader {
  NodeId node = 0;
  std::vector<NodeId> views;
};

class Composing {
 public:
  explicit Composing(Graph& graph) : graph_(graph) {
    for (NodeId n = 0; n < graph.nodes.size(); ++n) {
      for (const TensorId id : graph.nodes[n].inputs) readers_[id].push_back(n);
    }
  }

  void run() {
    for (NodeId n = 0; n < graph_.nodes.size(); ++n) {
      if (is_kernel(n) && may_vanish(n)) compose(n);
    }
    remove_dead_nodes(graph_);
  }

 private:
  bool is_move(NodeId n) const {
    const Node& node = graph_.nodes[n];
    return node.pattern && *node.pattern <= Pattern::Injective && is_plain(node) &&
           node.coordinates.empty() && only_moves(*node.computation);
  }
  bool is_view(NodeId n) const {
    return is_move(n) && graph_.nodes[n].is_view && may_share_memory(graph_, graph_.nodes[n]);
  }
  bool is_kernel(NodeId n) const {
    return is_move(n) && !is_view(n) && !moves_channels_of_convolution(graph_, graph_.nodes[n]);
  }

  // The readers of a move; false if one of them is no move, or if no operator reads a tensor.
  bool find_readers(NodeId n, std::vector<NodeId>& views, std::vector<Reader>& found) const {
    const TensorId id = graph_.nodes[n].outputs.front();
    const auto own = readers_.find(id);
    if (graph_.tensors[id].role != TensorRole::Intermediate || own == readers_.end()) return false;
    return std::ranges::all_of(own->second, [&](NodeId reader) {
      if (is_view(reader)) {
        views.push_back(reader);
        const bool are_moves = find_readers(reader, views, found);
        views.pop_back();
        return are_moves;
      }
      if (is_kernel(reader)) found.push_back({reader, views});
      return is_kernel(reader);
    });
  }

  // Whether all readers of a move can take it in.
  bool may_vanish(NodeId n) const {
    std::vector<NodeId> views;
    std::vector<Reader> readers;
    if (!find_readers(n, views, readers)) return false;
    return std::ranges::all_of(readers, [&](const Reader& reader) {
      const Node& node = graph_.nodes[reader.node];
      if (inputs_with(n, reader).size() > kMostSources) return false;
      if (count(n) + count(reader.node) > kMostComposed) return false;
      return !node.joins_along || (!graph_.nodes[n].joins_along && may_vanish(reader.node));
    });
  }

  std::size_t count(NodeId n) const {
    const auto found = composed_.find(n);
    return found == composed_.end() ? 1 : found->second;
  }

  // What a reader reads if it takes in the move.
  std::vector<TensorId> inputs_with(NodeId n, const Reader& reader) const {
    const TensorId moved = moved_by(n, reader);
    std::vector<TensorId> inputs;
    const auto add = [&](TensorId id) {
      if (std::ranges::find(inputs, id) == inputs.end()) inputs.push_back(id);
    };
    for (const TensorId id : graph_.nodes[reader.node].inputs) {
      if (id != moved) {
        add(id);
      } else {
        std::ranges::for_each(graph_.nodes[n].inputs, add);
      }
    }
    return inputs;
  }

  // The tensor by which a reader reads what the move writes.
  TensorId moved_by(NodeId n, const Reader& reader) const {
    return graph_.nodes[reader.views.empty() ? n : reader.views.back()].outputs.front();
  }

  void compose(NodeId n) {
    std::vector<NodeId> views;
    std::vector<Reader> readers;
    find_readers(n, views, readers);
    for (const Reader& reader : readers) {
      Node& node = graph_.nodes[reader.node];
      Node whole = node;
      whole.inputs = inputs_with(n, reader);
      whole.members = {graph_.nodes[n]};
      for (const NodeId view : reader.views) whole.members.push_back(graph_.nodes[view]);
      whole.members.push_back(node);
      std::erase(readers_[moved_by(n, reader)], reader.node);
      node.computation = composed(graph_, whole);
      node.op = graph_.nodes[n].op + "+" + node.op;
      node.inputs = std::move(whole.inputs);
      node.attributes.clear();
      node.pattern = Pattern::Injective;
      node.is_view = false;
      node.joins_along.reset();
      composed_[reader.node] = count(n) + count(reader.node);
      for (const TensorId id : node.inputs) {
        std::vector<NodeId>& own = readers_[id];
        if (std::ranges::find(own, reader.node) == own.end()) own.push_back(reader.node);
      }
    }
    for (const TensorId id : graph_.nodes[n].inputs) std::erase(readers_[id], n);
  }

  Graph& graph_;
  std::map<TensorId, std::vector<NodeId>> readers_ = {};
  std::map<NodeId, std::size_t> composed_ = {};  // the moves that are one operator now, if several
};

}  // namespace

void compose_moves(Graph& graph) { Composing(graph).run(); }

}  // namespace texloom::graph
