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

// A step after a barrier: some threads combine their own elements with those of others, as in
// `if threadIdx.x < 8 { P[threadIdx.x] = P[threadIdx.x] + P[threadIdx.x + 8] }`. It stores to each
// buffer once, after its loads of it.
struct CombinationStep {
  std::vector<bool> threads;                        // that take part, by number
  std::unordered_set<const ir::ExprNode*> others;   // loads of other threads' elements
  std::unordered_set<const ir::BufferNode*> taken;  // the buffers that these read
  std::unordered_set<int64_t> sources;              // the threads whose elements these read
  // By how much the number of the other thread is larger, if that is the same for all threads and
  // the two are in one SIMD-group.
  std::optional<int64_t> offset;
};

// nullopt if the statement is not such a step, or may access anything but parts.
std::optional<CombinationStep> combination_step(const ir::Stmt& s, const BlockThreads& threads,
                                                const PartOwners& owners);

}  // namespace texloom::codegen
