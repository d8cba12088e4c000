// What passes that depend on the target ask of whoever schedules the operators afterwards.
#pragma once

#include <cstddef>
#include <functional>

#include "graph/computation.h"

namespace texloom::graph {

// Without a function, there are no such kernels.
struct KernelLibrary {
  // Whether one kernel can compute two operators, and is estimated to be faster than one for each.
  // The second reads what the first computes as its input of this number. A computation is null if
  // the graph, read from text, does not have it.
  std::function<bool(const SharedComputation& first, const SharedComputation& second,
                     std::size_t input)>
      is_faster_joined = {};
};

}  // namespace texloom::graph
