// Finds the data that a kernel reads next, so that it is on its way into the cache while the kernel
// still computes with other data.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "ir/stmt.h"

namespace texloom::codegen::native {

// Consecutive data that a loop reads once, from the begin to the end, and the loop around it again
// in each of its iterations: a panel of the right side of a product, which all tiles of rows
// multiply. The first pass over it waits for memory, and the others leave memory idle. Meanwhile
// the data after it can be fetched, which the kernel most often reads next.
struct Stream {
  const ir::Load* load;  // one of the loads from it; its index has the loop's variable
  ir::Expr pass;         // the variable of the loop around the loop
  int64_t iterations;    // of the loop
  int64_t element_bytes;
  int64_t read_bytes;     // in each iteration of the loop
  int64_t fetched_bytes;  // in each iteration: all passes together fetch as much as one pass reads
};

// The streams of the innermost loops in the body of a loop, and the loops that read them. Only data
// that does not fit in the nearest cache counts.
std::vector<std::pair<const ir::For*, Stream>> streams_of(const ir::For& passes);

// Fetches a line of data that will be read, into all caches.
void emit_prefetch(llvm::IRBuilder<>& builder, llvm::Value* address);
// Fetches the share of an iteration of what is after a stream, into the second cache. `here` is the
// address of the stream's load in this iteration; `pass` and `iteration` number those of the loops.
void emit_prefetch(llvm::IRBuilder<>& builder, const Stream& stream, llvm::Value* here,
                   llvm::Value* pass, llvm::Value* iteration);

}  // namespace texloom::codegen::native
