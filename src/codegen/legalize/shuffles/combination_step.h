// Reads one step by which the threads of a block combine their parts of a reduction.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "codegen/legalize/shuffles/block_threads.h"
#include "codegen/legalize/shuffles/part_owners.h"
#include "ir/stmt.h"

namespace texloom::codegen {

// A step after a barrier: some threads combine their own elements with other threads' elements, as
// in `if threadIdx.x < 8 { P[threadIdx.x] = P[threadIdx.x] + P[threadIdx.x + 8] }`. A step stores
// to each buffer once, after all its loads of that buffer.
struct CombinationStep {
  std::vector<bool> threads;                        // for each thread, whether it takes part
  std::unordered_set<const ir::ExprNode*> others;   // loads of other threads' elements
  std::unordered_set<const ir::BufferNode*> taken;  // the buffers that `others` read
  std::unordered_set<int64_t> sources;              // the threads whose elements `others` read
  // The other thread's number minus the reading thread's, if the difference is equal for all
  // threads and both threads are in one SIMD-group.
  std::optional<int64_t> offset;
};

// Reads the statement as a step; nullopt if the statement is no step, or may access anything but
// parts.
std::optional<CombinationStep> combination_step(const ir::Stmt& s, const BlockThreads& threads,
                                                const PartOwners& owners);

}  // namespace texloom::codegen
