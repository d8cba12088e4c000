// Lets arrays in shared memory that are never alive together be one array.
#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: fits nests into the shared memory of a block whose arrays together exceed it. What an
//   array holds is gone where its allocation ends. So arrays of one type, none of which is
//   allocated inside the allocation of another, become one array, as large as the largest of them;
//   a barrier begins each of these allocations, since other threads may still access the array
//   before. Larger arrays choose first, and each takes the first memory that it may take.
// Requires: stage flattened, each nest bound to threads.
// Ensures: stage flattened. Nests whose arrays fit are unchanged. An array stays alone if threads
//   of a block may disagree whether to come to its allocation, if copies into it are asynchronous,
//   or if the allocation is in what the last block runs.
// Order: before launch_nests, which moves allocations to the top of the kernel, and refuses what
//   still exceeds the limit; before insert_barriers, which adds barriers between accesses inside
//   of the allocations, and drops those that separate nothing.
// Example:
//   buffer.alloca A: shared float32[64]       buffer.alloca A: shared float32[64]
//     ... A ...                                 barrier
//   buffer.alloca B: shared float32[32]  ->     ... A ...
//     ... B ...                               buffer.alloca A: shared float32[64]
//                                               barrier
//                                               ... A, in place of B ...
void reuse_shared_memory(Lowering& lowering);

}  // namespace texloom::lower
