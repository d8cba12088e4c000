// Small graphs whose nodes copy or add.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compile/te_program.h"
#include "graph/graph.h"
#include "tests/schedule/te.h"

namespace texloom::graph::testing {

using Scopes = std::vector<const char*>;

// The sum of tensors of one shape. The last scope is the result's; the scopes before it are the
// operands'. A thread computes the last axis.
inline std::shared_ptr<const lower::Lowering> sum(const ir::Shape& shape, const Scopes& scopes,
                                                  bool exact = false) {
  namespace te = schedule::testing;
  std::vector<ir::Tensor> tensors;
  for (std::size_t i = 0; i + 1 < scopes.size(); ++i)
    tensors.push_back(te::placeholder("in" + std::to_string(i), shape));
  tensors.push_back(te::compute("out", shape, [&](const ir::Exprs& index) {
    ir::Expr value = te::at(tensors.front(), index);
    for (std::size_t i = 1; i < tensors.size(); ++i) value = value + te::at(tensors[i], index);
    return value;
  }));
  te::Te s({tensors.back()});
  std::vector<ir::IterVar> outer;
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) outer.push_back(s.axis(tensors.back(), i));
  s.bind(tensors.back(), s.fuse(tensors.back(), outer), "blockIdx.x");
  compile::TeProgramDesc desc;
  desc.schedule = s.s;
  desc.name = "sum";
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    desc.arguments.emplace_back(tensors[i]);
    compile::Binding binding{tensors[i], {}};
    lower::BufferDeclaration& d = binding.buffer.declaration;
    d.type = tensors[i]->type;
    d.shape = tensors[i]->shape;
    d.scope = *ir::parse_scope(scopes[i]);
    d.exact_image = exact && d.scope.texture.has_value();
    desc.bindings.push_back(std::move(binding));
  }
  return std::make_shared<const lower::Lowering>(compile::te_program(std::move(desc)));
}

inline Graph empty_graph() {
  Graph graph;
  graph.name = "net";
  return graph;
}

// The alternatives of a node, each with its cost. An alternative is named after the scopes of its
// tensors: one scope for all tensors, or one for each.
struct Choices {
  std::vector<std::pair<Scopes, double>> list;
};
inline const Choices kTexture = {{{{"texture"}, 0}}};
inline TensorId add_sum(Graph& graph, const std::string& name, std::vector<TensorId> inputs,
                        const Choices& choices, bool exact = false) {
  const Tensor like = graph.tensors[inputs.front()];
  const TensorId output = graph.add_edge(name, like.type, like.shape);
  Node node{name, "sum", std::move(inputs), {output}};
  for (const auto& [given, cost] : choices.list) {
    Scopes scopes = given;
    scopes.resize(node.inputs.size() + 1, given.back());
    Alternative& alternative = node.alternatives.emplace_back();
    for (const char* scope : given)
      alternative.name += (alternative.name.empty() ? "" : "_") + std::string(scope);
    alternative.program = sum(*numbers_of(like.shape), scopes, exact);
    alternative.cost = cost;
  }
  graph.nodes.push_back(std::move(node));
  return output;
}

inline TensorId add_concatenation(Graph& graph, const std::string& name,
                                  std::vector<TensorId> inputs, std::size_t axis) {
  Tensor whole = graph.tensors[inputs.front()];
  int64_t extent = 0;
  for (const TensorId input : inputs) extent += *graph.tensors[input].shape[axis].constant();
  whole.shape[axis] = extent;
  const TensorId output = graph.add_edge(name, whole.type, whole.shape);
  Node node{name, "concatenate", std::move(inputs), {output}};
  node.concat_axis = axis;
  graph.nodes.push_back(std::move(node));
  return output;
}

}  // namespace texloom::graph::testing
