// Finds the places where the threads of a block combine their parts of a reduction in shared memory
// (lower/build/thread_reduction.h makes them).
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "codegen/legalize/dialect.h"
#include "codegen/legalize/shuffles/combination_step.h"
#include "ir/program.h"

namespace texloom::codegen {

// A tree begins with a store for each value of the reduction: every thread stores its part to an
// element of its own. Steps follow, each after a barrier, that access only these elements; then
// another barrier. Until the next stores of parts, the kernel reads only elements that the last
// step stores. Only trees access the buffers.
struct CombinationTree {
  size_t begin = 0, end = 0;  // positions in a Seq: the first store, the last barrier
  size_t result_end = 0;      // from `end` to this position, the Seq reads only the result
  std::vector<const ir::Store*> parts;
  std::vector<CombinationStep> steps;
  size_t first_shuffle = 0;  // this step and all later ones have an offset
  // If all steps have an offset: the distance from each reading thread to the thread of its
  // SIMD-group that has the result. Null if there is no such thread.
  ir::Expr to_result;

  size_t position_of(size_t step) const { return begin + parts.size() + 2 * step + 1; }
};

// The trees whose last steps may be shuffles in SIMD-groups of `width` threads: for each Seq, its
// trees in order.
using CombinationTrees = std::unordered_map<const ir::StmtNode*, std::vector<CombinationTree>>;
CombinationTrees combination_trees(const ir::Kernel& kernel, int64_t width, const Dialect& dialect);

}  // namespace texloom::codegen
