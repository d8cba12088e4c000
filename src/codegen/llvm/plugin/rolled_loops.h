// Loops that LLVM shall not unroll.
#pragma once

#include <llvm/IR/Instructions.h>

namespace texloom::codegen::native {

// Marks a loop, given its body's first block and the branch back to it, so that LLVM makes no
// further copies of the body, if this block computes many vectors: the sums of a tile. They hide
// their own latency, and fill the registers. LLVM would load what several copies read first, and
// then keep sums in memory for want of registers.
void keep_tile_rolled(const llvm::BasicBlock& body, llvm::BranchInst& back);

}  // namespace texloom::codegen::native
