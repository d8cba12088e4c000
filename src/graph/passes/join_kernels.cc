#include "graph/passes/join_kernels.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "graph/compose.h"
#include "graph/passes/fuse.h"

namespace texloom::graph {
namespace {

class KernelJoining {
 public:
  KernelJoining(Graph& graph, const KernelLibrary& kernels)
      : graph_(graph), kernels_(kernels), producers_(producers_of(graph)) {}

  void run() {
    for (std::size_t reader = 0; reader < graph_.nodes.size(); ++reader) {
      const std::optional<std::size_t> producer = producer_to_join(reader);
      if (!producer || !join(graph_, *producer, reader)) continue;
      --reader;  // join() has removed the producer, which came before the reader
      producers_ = producers_of(graph_);
      joined_.insert(graph_.nodes[reader].name);
    }
  }

 private:
  // Whether the node computes one output from tensors of known shapes, element by element or as a
  // contraction.
  bool is_candidate(const Node& node) const {
    const bool is_known = node.pattern == Pattern::Contraction ||
                          node.pattern == Pattern::Elementwise ||
                          node.pattern == Pattern::Broadcast;
    return is_known && node.outputs.size() == 1 && node.alternatives.empty() &&
           !joined_.contains(node.name) && std::ranges::all_of(tensors_of(node), [&](TensorId id) {
             return numbers_of(graph_.tensors[id].shape).has_value();
           });
  }

  std::optional<std::size_t> producer_to_join(std::size_t reader) const {
    const Node& second = graph_.nodes[reader];
    if (second.pattern != Pattern::Contraction || !is_candidate(second)) return std::nullopt;
    std::map<std::size_t, std::size_t> inputs;  // keyed by the node that computes the input
    for (std::size_t input = 0; input < second.inputs.size(); ++input) {
      const auto found = producers_.find(second.inputs[input]);
      if (found != producers_.end()) inputs.emplace(found->second, input);
    }
    for (const auto& [n, input] : inputs) {
      const Node& first = graph_.nodes[n];
      if (!is_candidate(first)) continue;
      if (kernels_.is_faster_joined(computation_as_stored(graph_, first),
                                    computation_as_stored(graph_, second), input))
        return n;
    }
    return std::nullopt;
  }

  Graph& graph_;
  const KernelLibrary& kernels_;
  Producers producers_;
  std::set<std::string> joined_;
};

}  // namespace

void join_kernels(Graph& graph, const ir::Target& target, const KernelLibrary& kernels) {
  if (target.device_class == ir::DeviceClass::Cpu || !kernels.is_faster_joined) return;
  KernelJoining(graph, kernels).run();
}

}  // namespace texloom::graph
