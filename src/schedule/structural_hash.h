// Structural equality of computations, and a hash that agrees with it: whether operations compute
// the same of their inputs. Operations need only correspond to one another, but with equal names,
// tags and attributes, so that equal computations print and schedule equally.
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

// The same in all processes of one version of Texloom.
uint64_t structural_hash(const TensorFunction& function);

}  // namespace texloom::schedule
