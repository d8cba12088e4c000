// Finds how the threads of a block read the result of a combination tree.
#pragma once

#include <cstddef>
#include <optional>

#include "codegen/legalize/shuffles/block_threads.h"
#include "codegen/legalize/shuffles/combination_tree.h"
#include "codegen/legalize/shuffles/part_owners.h"
#include "ir/stmt.h"

namespace texloom::codegen {

struct CombinationResult {
  // A position in the tree's Seq: the first statement after the tree that stores a new part, or the
  // end of the Seq if there is none.
  size_t end = 0;
  // The distance from each thread to the thread of its SIMD-group whose element it reads. Null if
  // there is no such thread.
  ir::Expr distance;
};

// Between the tree's last barrier and CombinationResult::end, statements may access the tree's
// buffers only to load elements that the last step stores; otherwise the result is nullopt.
std::optional<CombinationResult> combination_result(const ir::Stmts& statements,
                                                    const CombinationTree& tree,
                                                    const BlockThreads& threads,
                                                    const PartOwners& owners);

}  // namespace texloom::codegen
