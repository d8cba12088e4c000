// Finds the tensors that the steps of a plan touch, and the steps that must therefore stay in
// order.
#pragma once

#include <span>
#include <vector>

#include "runtime/hal/types.h"
#include "runtime/plan/plan.h"

namespace texloom::runtime {

struct TensorAccess {
  TensorRef tensor;
  hal::Access access = hal::Access::Read;
  // Whether the step may touch everything in the memory object that the tensor lies in: a texture
  // whose extent the kernel does not state.
  bool whole_object = false;
};

// Appends the accesses of a step; a loop has the accesses of its body.
void add_accesses(const LaunchPlan& plan, const Step& step, std::vector<TensorAccess>& accesses);

// Whether two accesses, one of which writes, may share memory: they name one tensor, or, if the
// plan has a workspace, temporaries whose places overlap. Arguments are assumed to be distinct
// memory.
bool are_ordered(const LaunchPlan& plan, const TensorAccess& a, const TensorAccess& b);

}  // namespace texloom::runtime
