// Loops that LLVM shall not unroll.
#pragma once

#include <llvm/IR/Instructions.h>

#include "ir/stmt.h"

namespace texloom::codegen::native {

// Whether a loop has loops inside that run many times in all. LLVM counts the instructions of such
// a loop before it vectorizes the inner ones: it copies the inner loop for each iteration of the
// outer one, and unrolls each copy. A transpose of 16 x 64 elements became one block of 3,300
// instructions, which compiles for long and is no faster.
bool has_long_loops(const ir::For& loop);

// Whether the first block of a loop's body computes many vectors: the sums of a tile. They hide
// their own latency, and fill the registers. LLVM would load what several copies of the body read
// first, and then keep sums in memory for want of registers.
bool computes_tile(const llvm::BasicBlock& body);

// Keeps the loop with this branch to its next iteration as it is.
void keep_rolled(llvm::BranchInst& again);

}  // namespace texloom::codegen::native
