#include "graph/host_parts.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include "runtime/plan/host_parts.h"
#include "support/check.h"

namespace texloom::graph {
namespace {

// How often work changes between device and host before each node, at least.
std::vector<std::uint32_t> phases_of(const Graph& graph, const std::vector<bool>& on_host) {
  TL_CHECK(on_host.size() == graph.nodes.size());
  std::vector<std::optional<std::size_t>> writer(graph.tensors.size());
  std::vector<std::uint32_t> phases;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    std::uint32_t phase = on_host[i] ? 1 : 0;  // odd phases are on the host
    for (const TensorId tensor : graph.nodes[i].inputs) {
      if (!writer[tensor]) continue;
      const std::size_t before = *writer[tensor];
      phase = std::max(phase, phases[before] + (on_host[before] == on_host[i] ? 0 : 1));
    }
    phases.push_back(phase);
    for (const TensorId tensor : graph.nodes[i].outputs) writer[tensor] = i;
  }
  return phases;
}

// A graph of some of the tensors of another graph.
class Selection {
 public:
  Selection(const Graph& from, std::string name) : from_(from), ids_(from.tensors.size()) {
    made.name = std::move(name);
    made.target = from.target;
  }

  TensorId at(TensorId tensor) {
    if (!ids_[tensor]) {
      ids_[tensor] = static_cast<TensorId>(made.tensors.size());
      made.tensors.push_back(from_.tensors[tensor]);
    }
    return *ids_[tensor];
  }

  void add_input(TensorId tensor) {
    made.inputs.push_back(at(tensor));
    made.tensors[made.inputs.back()].role = TensorRole::Input;
  }

  void add_output(TensorId tensor) { made.mark_output(at(tensor)); }

  void add_node(Node node) {
    for (TensorId& tensor : node.inputs) tensor = at(tensor);
    for (TensorId& tensor : node.outputs) tensor = at(tensor);
    made.nodes.push_back(std::move(node));
  }

  Graph made;

 private:
  const Graph& from_;
  std::vector<std::optional<TensorId>> ids_;  // by tensor of the other graph
};

// A call with all tensors in buffers.
Node call_of(const HostPart& part, std::size_t number, std::vector<std::byte> payload,
             const std::string& target) {
  const std::string digits = std::to_string(number);
  Node node{"host part " + digits, std::string(runtime::kHostPartDomain) + "part" + digits,
            part.inputs, part.outputs};
  runtime::OperatorCall call{.op = node.op, .version = 1, .encoding = runtime::Encoding::Host};
  call.accesses.assign(part.inputs.size(), hal::Access::Read);
  call.accesses.insert(call.accesses.end(), part.outputs.size(), hal::Access::Write);
  call.attributes = {{std::string(runtime::kHostPartTarget), target}};
  call.payload = std::move(payload);
  node.attributes = call.attributes;
  node.call = std::move(call);
  Alternative& only = node.alternatives.emplace_back();
  only.name = "global";
  only.scopes.resize(part.inputs.size() + part.outputs.size());
  return node;
}

}  // namespace

std::vector<HostPart> host_parts(const Graph& graph, const std::vector<bool>& on_host) {
  const std::vector<std::uint32_t> phases = phases_of(graph, on_host);
  std::vector<HostPart> parts;
  std::vector<std::uint32_t> phase_of_tensor(graph.tensors.size());  // of its writer on the host
  std::vector<bool> leaves(graph.tensors.size());  // whether others than its writer's part read it
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (on_host[i]) {
      for (const TensorId tensor : graph.nodes[i].outputs) phase_of_tensor[tensor] = phases[i];
    }
    for (const TensorId tensor : graph.nodes[i].inputs)
      if (phase_of_tensor[tensor] != phases[i]) leaves[tensor] = true;
  }
  for (const TensorId tensor : graph.outputs) leaves[tensor] = true;

  std::vector<std::uint32_t> present;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (on_host[i]) present.push_back(phases[i]);
  std::ranges::sort(present);
  present.erase(std::unique(present.begin(), present.end()), present.end());
  for (const std::uint32_t phase : present) {
    HostPart& part = parts.emplace_back();
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      if (!on_host[i] || phases[i] != phase) continue;
      part.nodes.push_back(i);
      for (const TensorId tensor : graph.nodes[i].inputs) {
        if (phase_of_tensor[tensor] == phase ||
            graph.tensors[tensor].role == TensorRole::Constant ||
            std::ranges::find(part.inputs, tensor) != part.inputs.end())
          continue;
        part.inputs.push_back(tensor);
      }
      for (const TensorId tensor : graph.nodes[i].outputs)
        if (leaves[tensor]) part.outputs.push_back(tensor);
    }
  }
  return parts;
}

Graph graph_of(const Graph& graph, const HostPart& part, std::string name) {
  Selection selection(graph, std::move(name));
  for (const TensorId tensor : part.inputs) selection.add_input(tensor);
  for (const std::size_t node : part.nodes) selection.add_node(graph.nodes[node]);
  for (Tensor& tensor : selection.made.tensors)
    if (tensor.role == TensorRole::Output) tensor.role = TensorRole::Intermediate;
  for (const TensorId tensor : part.outputs) selection.add_output(tensor);
  return std::move(selection.made);
}

Graph with_calls(const Graph& graph, const std::vector<bool>& on_host,
                 std::span<const std::vector<std::byte>> payloads, const std::string& target) {
  const std::vector<HostPart> parts = host_parts(graph, on_host);
  TL_CHECK(payloads.size() == parts.size());
  const std::vector<std::uint32_t> phases = phases_of(graph, on_host);
  std::vector<std::size_t> order(graph.nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t node) { return phases[node]; });

  Selection selection(graph, graph.name);
  for (const TensorId tensor : graph.inputs) selection.add_input(tensor);
  std::size_t next = 0;  // the part whose turn it is
  for (const std::size_t node : order) {
    if (!on_host[node]) {
      selection.add_node(graph.nodes[node]);
    } else if (node == parts[next].nodes.front()) {
      selection.add_node(call_of(parts[next], next, payloads[next], target));
      next = std::min(next + 1, parts.size() - 1);
    }
  }
  for (const TensorId tensor : graph.outputs) selection.add_output(tensor);
  return std::move(selection.made);
}

}  // namespace texloom::graph
