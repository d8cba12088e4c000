// Finds how the threads of a block read what a combination tree computes.
#pragma once

#include <cstddef>
#include <optional>

#include "codegen/legalize/shuffles/block_threads.h"
#include "codegen/legalize/shuffles/combination_tree.h"
#include "codegen/legalize/shuffles/part_owners.h"
#include "ir/stmt.h"

namespace texloom::codegen {

struct CombinationResult {
  // In the tree's Seq: the first statement after the tree that stores a new part; else the end.
  size_t end = 0;
  // The distance from each thread to the thread whose element it reads, which is in the same
  // SIMD-group. Null if there is no such thread.
  ir::Expr distance;
};

// nullopt if the statements from the tree's last barrier to that end access the tree's buffers in
// any way but to load elements that the last step stores.
std::optional<CombinationResult> combination_result(const ir::Stmts& statements,
                                                    const CombinationTree& tree,
                                                    const BlockThreads& threads,
                                                    const PartOwners& owners);

}  // namespace texloom::codegen
