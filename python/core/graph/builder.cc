#include "core/graph/builder.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/graph/computation.h"
#include "core/graph/runnable_graph.h"
#include "core/graph/sizes.h"
#include "core/handles.h"
#include "core/runtime/custom.h"
#include "core/runtime/open_devices.h"
#include "graph/analysis/movement.h"
#include "graph/analysis/pattern.h"
#include "graph/host_parts.h"
#include "graph/schedule_operators.h"
#include "runtime/package/package_writer.h"
#include "schedule/storage.h"
#include "support/diagnostic.h"

namespace texloom::python {
namespace {

using graph::TensorId;

// (name, dtype, shape) of an output of a node
using OutputTuple = std::tuple<std::string, py::object, py::sequence>;

TensorId add_input(graph::Graph& g, const std::string& name, const py::object& dtype,
                   const py::sequence& shape) {
  return g.add_input(name, to_type(dtype), shape_of(shape));
}

TensorId add_constant(graph::Graph& g, const std::string& name, const py::object& dtype,
                      const py::array& array) {
  const auto contiguous = py::array::ensure(array, py::array::c_style);
  const auto* data = static_cast<const std::byte*>(contiguous.data());
  return g.add_constant(
      name, to_type(dtype), {contiguous.shape(), contiguous.shape() + contiguous.ndim()},
      std::make_shared<const std::vector<std::byte>>(data, data + contiguous.nbytes()));
}

// Adds a node with its outputs, and returns the outputs. Adds nothing if an output is refused.
std::vector<TensorId> add(graph::Graph& g, graph::Node node,
                          const std::vector<OutputTuple>& outputs) {
  std::vector<graph::Tensor> made;
  for (const auto& [name, dtype, shape] : outputs)
    made.push_back({name, to_type(dtype), shape_of(shape)});
  for (graph::Tensor& each : made)
    node.outputs.push_back(g.add_edge(std::move(each.name), each.type, std::move(each.shape)));
  node.location = user_location();
  g.nodes.push_back(std::move(node));
  return g.nodes.back().outputs;
}

// Adds a node without alternatives, since they depend on the target: see set_alternatives().
std::vector<TensorId> add_node(graph::Graph& g, const std::string& name, const std::string& op,
                               std::vector<TensorId> inputs,
                               const std::vector<OutputTuple>& outputs) {
  return add(g, {name, op, std::move(inputs), {}}, outputs);
}

// The numbers of the inputs that an operator reads as coordinates: the inputs from which it
// computes indices, and the floating-point inputs in `marked`, which the caller knows to be
// coordinates.
std::vector<std::size_t> coordinates_of(const graph::Computation& computation,
                                        const std::vector<std::size_t>& marked) {
  std::vector<std::size_t> numbers = graph::inputs_in_indices(computation);
  for (const std::size_t number : marked) {
    if (number < computation.inputs.size() &&
        computation.inputs[number]->type.code == ir::TypeCode::Float)
      numbers.push_back(number);
  }
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

// Adds an operator. `marked`: inputs that are coordinates although the computation does not show
// this (texloom/ops/coordinates.py).
std::vector<TensorId> add_operator(graph::Graph& g, const std::string& name, const std::string& op,
                                   const PyComputation& computation,
                                   const std::vector<std::size_t>& marked,
                                   std::vector<TensorId> inputs,
                                   const std::vector<OutputTuple>& outputs,
                                   const py::dict& attributes) {
  const graph::Computation& own = *computation.node;
  graph::Node node{name, op, std::move(inputs), {}};
  node.attributes = attributes_of(attributes);
  node.computation = computation.node;
  node.is_view = graph::is_view(own);
  node.pattern = node.is_view ? graph::Pattern::Injective : graph::pattern_of(own);
  node.joins_along = graph::joined_axis(own);
  node.coordinates = coordinates_of(own, marked);
  return add(g, std::move(node), outputs);
}

std::vector<TensorId> add_concatenation(graph::Graph& g, const std::string& name,
                                        std::vector<TensorId> inputs,
                                        const std::vector<OutputTuple>& outputs, std::size_t axis) {
  graph::Node node{name, "concatenate", std::move(inputs), {}};
  node.concat_axis = axis;
  return add(g, std::move(node), outputs);
}

// Adds a call of a custom operator. `scopes`: for each alternative, its name and the scopes of
// inputs, then of outputs.
std::vector<TensorId> add_call(
    graph::Graph& g, const std::string& name, const std::string& op, std::vector<TensorId> inputs,
    const std::vector<OutputTuple>& outputs,
    const std::vector<std::pair<std::string, std::vector<std::string>>>& scopes,
    const py::dict& attributes, std::optional<double> cost, std::uint32_t version,
    bool is_on_host) {
  graph::Node node{name, op, std::move(inputs), {}};
  runtime::OperatorCall call{op, version};
  call.encoding = is_on_host ? runtime::Encoding::Host : runtime::Encoding::Kernels;
  call.accesses.assign(node.inputs.size(), hal::Access::Read);
  call.accesses.insert(call.accesses.end(), outputs.size(), hal::Access::Write);
  call.attributes = attributes_of(attributes);
  node.attributes = call.attributes;
  node.call = std::move(call);
  for (const auto& [label, list] : scopes) {
    graph::Alternative& alternative = node.alternatives.emplace_back();
    alternative.name = label;
    alternative.cost = cost;
    for (const std::string& scope : list)
      alternative.scopes.push_back(
          schedule::parse_storage(scope, "", ir::Shape(), user_location()).scope);
  }
  return add(g, std::move(node), outputs);
}

// Makes a tensor an output, and renames it to the name that callers use for the output.
void mark_output(graph::Graph& g, TensorId tensor, const std::string& name) {
  g.tensors.at(tensor).name = name;
  g.mark_output(tensor);
}

graph::Graph for_target(const graph::Graph& g, const ir::Target& target) {
  graph::Graph copy = g;
  copy.target = target;
  return copy;
}

// Sets the alternatives of node `number`, and names their kernels after the node's operator.
void set_alternatives(graph::Graph& g, std::size_t number,
                      std::vector<graph::Alternative> alternatives) {
  graph::Node& node = g.nodes.at(number);
  node.alternatives = graph::named_after(node.op, std::move(alternatives));
}

// The parts for the host as graphs of their own. `on_host` is by node.
std::vector<graph::Graph> host_part_graphs(const graph::Graph& g,
                                           const std::vector<bool>& on_host) {
  std::vector<graph::Graph> graphs;
  for (const graph::HostPart& part : graph::host_parts(g, on_host))
    graphs.push_back(graph::graph_of(g, part, g.name));
  return graphs;
}

// The graph with a call of each compiled part in its place.
graph::Graph with_host_parts(const graph::Graph& g, const std::vector<bool>& on_host,
                             const std::vector<std::shared_ptr<PyCompiledGraph>>& compiled,
                             const std::string& target) {
  std::vector<std::vector<std::byte>> payloads;
  for (const auto& part : compiled) {
    auto bytes = runtime::package_bytes({&part->compiled.package, 1});
    throw_if_error(bytes.status());
    payloads.push_back(std::move(*bytes));
  }
  return graph::with_calls(g, on_host, payloads, target);
}

void add_condition(graph::Graph& g, const std::string& subject, bool is_equality,
                   const py::object& left, const py::object& right) {
  using Kind = runtime::SizeCondition::Kind;
  g.conditions.push_back(
      {subject, is_equality ? Kind::Equal : Kind::AtLeast, size_of(left), size_of(right)});
}

}  // namespace

void bind_builder(py::class_<graph::Graph>& graphs) {
  graphs
      .def(py::init([](const std::string& name) {
        graph::Graph g;
        g.name = name;
        return g;
      }))
      .def("symbol", [](graph::Graph& g, const std::string& name) { g.symbols.push_back(name); })
      .def("condition", &add_condition)
      .def("input", &add_input)
      .def("constant", &add_constant)
      .def("node", &add_node)
      .def("operator", &add_operator)
      .def("concatenation", &add_concatenation)
      .def("call", &add_call)
      .def("output", &mark_output)
      .def("for_target", &for_target)
      .def("set_alternatives", &set_alternatives)
      .def("nodes",
           [](const graph::Graph& g) {
             std::vector<std::pair<std::string, std::string>> names;
             for (const graph::Node& node : g.nodes) names.emplace_back(node.name, node.op);
             return names;
           })
      .def("host_part_graphs", &host_part_graphs)
      .def("with_host_parts", &with_host_parts);
}

}  // namespace texloom::python
