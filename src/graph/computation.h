// What the nodes of graphs compute, as operations over tensors (schedule/operation/operation.h).
//
// A computation knows nothing of its graph. Its placeholders are called in0, in1, ...; each extent
// of an input that is no number is one symbol of the computation. So nodes that compute the same of
// tensors of several sizes are equal. What these symbols are in the graph follows from the shapes
// of the node's inputs. Symbols of the graph that a computation uses otherwise have their names,
// and kernels get them as numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "schedule/operation/operation.h"

namespace texloom::graph {

struct Computation {
  std::vector<ir::Tensor> inputs;   // placeholders, one for each input of the node
  std::vector<ir::Tensor> outputs;  // one for each output
  ir::Exprs symbols = {};           // of the graph, in the order of their names
};
// Immutable: nodes and graphs share it.
using SharedComputation = std::shared_ptr<const Computation>;

// Structural equality (schedule/structural_hash.h), and a hash that agrees with it.
bool equal(const Computation& a, const Computation& b);
std::uint64_t structural_hash(const Computation& computation);

}  // namespace texloom::graph
