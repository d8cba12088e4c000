// Structural equality of computations, and a hash that agrees with it. Two computations are equal
// if their operations correspond to one another and compute the same from their inputs.
// Corresponding operations have equal names, tags and attributes, so that equal computations print
// and schedule equally.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/operation/operation.h"

namespace texloom::schedule {

// A function that operations compute from placeholders. The symbols in the shapes of the inputs
// only need to correspond to one another; other symbols are equal if their names are.
struct TensorFunction {
  const std::vector<ir::Tensor>& inputs;
  const std::vector<ir::Tensor>& outputs;
};

bool equal(const TensorFunction& a, const TensorFunction& b);

// A hash that is the same in all processes of one version of Texloom.
uint64_t structural_hash(const TensorFunction& function);

}  // namespace texloom::schedule
