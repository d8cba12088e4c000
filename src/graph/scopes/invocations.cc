#include "graph/scopes/invocations.h"

#include <algorithm>
#include <set>
#include <utility>

namespace texloom::graph {

StoredTensor Invocations::owner_of(const StoredTensor& tensor) const {
  const auto found = std::find_if(parts.begin(), parts.end(),
                                  [&](const Part& part) { return part.part == tensor; });
  return found == parts.end() ? tensor : found->whole;
}

Invocations invocations_of(const Graph& graph, const Offers& offers, const Choice& choice) {
  Invocations result;
  result.stored.resize(graph.tensors.size());
  std::set<StoredTensor> present;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    result.stored[graph.inputs[i]] = choice.options[i];
    present.insert({graph.inputs[i], choice.options[i]});
  }
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    const Offer& offer = offers.nodes[n][choice.options[graph.inputs.size() + n]];
    result.offers.push_back(&offer);
    Invocation own{.node = n, .reads = {}, .writes = {}};
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const StoredTensor read{node.inputs[i], offer.storages[i]};
      own.reads.push_back(read);
      if (graph.tensors[read.tensor].role == TensorRole::Constant) continue;
      if (!present.insert(read).second) continue;
      result.list.push_back(
          {.node = {}, .reads = {{read.tensor, result.stored[read.tensor]}}, .writes = {read}});
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const StoredTensor write{node.outputs[i], offer.storages[node.inputs.size() + i]};
      own.writes.push_back(write);
      result.stored[write.tensor] = write.storage;
      present.insert(write);
    }
    if (!offer.in_place) {
      result.list.push_back(std::move(own));
      continue;
    }
    if (!node.concat_axis) {  // the whole is the input, or the tensor whose memory the input shares
      const StoredTensor whole = result.owner_of(own.reads.front());
      result.parts.push_back({own.writes.front(), whole, offer.in_place->front()});
      continue;
    }
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      result.parts.push_back({own.reads[i], own.writes.front(), (*offer.in_place)[i]});
  }
  return result;
}

}  // namespace texloom::graph
