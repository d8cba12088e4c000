// Computations of the nodes of graphs, as operations over tensors (schedule/operation/operation.h).
//
// A computation does not depend on its graph. The placeholders are called in0, in1, ...; each
// extent of an input that is not a number is one symbol of the computation. So nodes with the same
// formula over tensors of different sizes have equal computations. The values of these symbols in
// the graph follow from the shapes of the node's inputs. Other symbols of the graph keep their
// names in a computation, and kernels get them as numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "schedule/operation/operation.h"

namespace texloom::graph {

struct Computation {
  std::vector<ir::Tensor> inputs;   // placeholders, one for each input of the node
  std::vector<ir::Tensor> outputs;  // one for each output
  ir::Exprs symbols = {};           // symbols of the graph, in the order of their names
};
// Immutable: nodes and graphs share it.
using SharedComputation = std::shared_ptr<const Computation>;

// Structural equality (schedule/structural_hash.h), and a hash that agrees with it.
bool equal(const Computation& a, const Computation& b);
std::uint64_t structural_hash(const Computation& computation);

}  // namespace texloom::graph
