// Graphs of operators: the input of compile_graph() (graph/compile_graph.h).
//
// A graph has tensors and nodes that compute them. A node names no kernel and no storage: it has
// *alternatives*, each a schedule of its computation whose arguments are declared in scopes and
// layouts. The alternative of each node, the storage of each tensor, and conversions from one
// storage to another are chosen for the whole graph by cost.
//
//     x --conv1--> a --conv2--> b
//     conv1  texture: x in texture, w in texture:weight, a in texture;  global: all in buffers
//
// There are three kinds of nodes: computations, calls of custom operators, and concatenations.
// Kernels of concatenations and of conversions are made when the graph is compiled (copies.h).
//
// An *operator* is a computation without alternatives: its pattern says how its elements depend on
// those of its inputs. The passes of graph/passes/passes.h rewrite graphs of operators. Fused
// operators become the *members* of one node. Then each operator gets alternatives, which are
// schedules of its computation (graph/schedule_operators.h).
//
// The extents of tensors are numbers, or expressions of the graph's *symbols*, which each run gives
// values. Programs have symbols of their own: if an argument's extent is a single symbol, the
// symbol's value is the extent of the tensor in the graph; other symbols are symbols of the graph,
// with the same names. Tensors whose extents depend on symbols are row-major buffers, or textures
// of open layouts (ir/layout/layout.h), which are not folded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/analysis/pattern.h"
#include "graph/computation.h"
#include "ir/scope.h"
#include "ir/target/target.h"
#include "lower/lowering.h"
#include "runtime/package/package.h"
#include "runtime/plan/plan.h"

namespace texloom::graph {

using TensorId = std::uint32_t;  // an index into Graph::tensors
using runtime::Size;
using runtime::TensorRole;
using Shape = std::vector<Size>;  // extents over the graph's symbols

struct Tensor {
  std::string name;  // unique
  ir::Type type;
  Shape shape;
  TensorRole role = TensorRole::Intermediate;
  // For a constant: its elements, row-major. Null in a graph that was read from text.
  std::shared_ptr<const std::vector<std::byte>> value = nullptr;
};

// The extents as numbers; nullopt if one of them depends on symbols.
std::optional<ir::Shape> numbers_of(const Shape& shape);

// One way to compute a node.
struct Alternative {
  std::string name;  // unique in its node: "texture"
  // At stage te. Its arguments are the node's inputs, then the node's outputs. The schedule or the
  // arguments' declarations give scopes and layouts. Null for a call of a custom operator.
  std::shared_ptr<const lower::Lowering> program = nullptr;
  // For a call: the scopes of its inputs, then of its outputs.
  std::vector<ir::StorageScope> scopes = {};
  // In nanoseconds; if it is absent, the cost model estimates the cost.
  std::optional<double> cost = {};
  // Each folded texture among the arguments raises the cost by this share.
  double fold_share = 0.005;
  // If its kernels cannot be compiled: drop the alternative instead of refusing the graph.
  bool may_fail = false;
};

struct Node {
  std::string name;  // unique
  std::string op;    // the name of its computation, for readers: "conv2d"
  std::vector<TensorId> inputs, outputs;
  std::vector<runtime::Attribute> attributes = {};
  // At least one. Concatenations and operators that are not scheduled yet have none.
  std::vector<Alternative> alternatives = {};
  std::optional<runtime::OperatorCall> call = {};  // set for a custom operator
  std::optional<std::size_t> concat_axis = {};     // set for a concatenation
  std::optional<Pattern> pattern = {};             // set for an operator
  // For an operator with one input: whether its output has the input's elements in the same order.
  bool is_view = false;
  // For an operator: the axis along which its output joins its inputs.
  std::optional<std::size_t> joins_along = {};
  // For an operator: the numbers of the inputs that it reads as coordinates.
  std::vector<std::size_t> coordinates = {};
  // For an operator, fused or not: its computation. Null if only `op` and the attributes describe
  // the operator. The computation's inputs and outputs have the types of the arithmetic: if a pass
  // stores a tensor in a narrower type, kernels widen elements when they read and round elements
  // when they write.
  SharedComputation computation = nullptr;
  // For a fused operator: its members; each comes after the members whose outputs it reads. Only
  // members read a tensor that a member computes, unless the tensor is an output of the node.
  std::vector<Node> members = {};
  SourceLocation location = {};
};

struct Graph {
  std::string name;
  ir::Target target;
  std::vector<std::string> symbols = {};                // all names differ
  std::vector<runtime::SizeCondition> conditions = {};  // checked at each run
  std::vector<Tensor> tensors;
  std::vector<Node> nodes;                // each after the nodes whose outputs it reads
  std::vector<TensorId> inputs, outputs;  // in the order of callers

  // Each returns the new tensor's number.
  TensorId add_input(std::string name, ir::Type type, Shape shape);
  TensorId add_constant(std::string name, ir::Type type, Shape shape,
                        std::shared_ptr<const std::vector<std::byte>> value);
  TensorId add_edge(std::string name, ir::Type type, Shape shape);
  // Appends the tensor to the outputs. An intermediate tensor gets the role of an output; a tensor
  // may be listed several times.
  void mark_output(TensorId tensor);
};

// By tensor: the number of the node that computes it.
using Producers = std::map<TensorId, std::size_t>;
Producers producers_of(const Graph& graph);

// Whether the node is an operator of one output that is neither fused nor scheduled, and has a
// computation.
bool is_plain(const Node& node);

// The node's inputs, then its outputs: the order of the arguments of its alternatives.
std::vector<TensorId> tensors_of(const Node& node);

}  // namespace texloom::graph
