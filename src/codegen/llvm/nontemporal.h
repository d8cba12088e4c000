// Stores that do not stay in the caches of a processor.
#pragma once

#include "ir/program.h"

namespace texloom::codegen::native {

// The alignment of non-temporal stores, in bytes: that of a kernel's arrays, and of the smallest
// vectors that x86 and aarch64 store in this way.
inline constexpr int64_t kNontemporalBytes = 16;

// Purpose: refuses non-temporal stores that no instruction can do, which LLVM would replace by
//   others: each store to such a buffer is a vector of a multiple of kNontemporalBytes, at an index
//   that is known to be aligned.
// Requires: stage legalized.
// Ensures: stage legalized. Fails with BadPragma.
// Order: after split_lanes and align_accesses, when the vectors are those that are stored.
// Example:
//   Y[ramp(8 * i, 1, 8)] = x   ->   the same, if Y has elements of 4 bytes
//   Y[ramp(9 * i, 1, 8)] = x   ->   refused
void check_nontemporal_stores(const ir::Kernel& kernel);

}  // namespace texloom::codegen::native
