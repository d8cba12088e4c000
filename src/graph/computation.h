// Computations of the nodes of graphs, as operations over tensors (schedule/operation/operation.h).
//
// A computation does not depend on its graph. The placeholders are called in0, in1, ...; each
// extent of an input that is not a number is one symbol of the computation. So nodes with the same
// formula over tensors of different sizes have equal computations. The values of these symbols in
// the graph follow from the shapes of the node's inputs. Other symbols of the graph keep their
// names in a computation, and kernels get them as numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "schedule/operation/operation.h"

namespace texloom::graph {

struct AttentionParts;

struct Computation {
  std::vector<ir::Tensor> inputs;   // placeholders, one for each input of the node
  std::vector<ir::Tensor> outputs;  // one for each output
  ir::Exprs symbols = {};           // symbols of the graph, in the order of their names
  // Of a kernel for attention: what it is made of, so that a pass may make another one, whose
  // inputs are the same. Null for other computations, and in a graph that was read from text.
  std::shared_ptr<const AttentionParts> attention = nullptr;
};
// Immutable: nodes and graphs share it.
using SharedComputation = std::shared_ptr<const Computation>;

// Operators that may be attention, from which one kernel for all of them is made:
// softmax(scale * (query * key) + masks) * value, whose scale and masks are already known.
struct AttentionParts {
  // The scores, their softmax, and the softmax's product with the values. The output of each
  // computation is the first input of the next.
  SharedComputation scores, weights, product;
  std::vector<ir::Tensor> inputs;  // placeholders
  // The query, the key, the value, and masks: inputs, or stages that only move elements of an
  // input. Several may read one input.
  std::vector<ir::Tensor> operands;
  double scale = 1;   // of the scores
  double factor = 1;  // of the queries: the factors of operands, which keep products in range
  // The axes of the product that the axes of the output are; empty: the same.
  std::vector<std::size_t> order;
  bool hides_nan = false;  // whether NaN in the softmax is replaced by 0
};

// Structural equality (schedule/structural_hash.h), and a hash that agrees with it.
bool equal(const Computation& a, const Computation& b);
std::uint64_t structural_hash(const Computation& computation);

}  // namespace texloom::graph
