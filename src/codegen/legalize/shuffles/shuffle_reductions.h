// Lets the threads of a SIMD-group combine their parts of a reduction in registers.
#pragma once

#include "codegen/legalize/dialect.h"
#include "ir/program.h"
#include "ir/target/target.h"

namespace texloom::codegen {

// Purpose: the threads of a block combine their parts of a reduction in shared memory, in steps.
//   The last steps, whose threads are in one SIMD-group, become shuffles: they need no barriers,
//   and parts stay in private memory. The same elements are combined in the same order, so results
//   are equal to the last bit. If all steps are shuffles, threads also get the result by a shuffle,
//   and no shared memory is used; else the last step stores the result in shared memory. Steps stay
//   as they are if their threads are not neighbors in a SIMD-group, or if the language does not
//   shuffle values of the type (Dialect::has_shuffles). All steps stay if the private parts exceed
//   the target's limits.
// Requires: stage legalized. The target knows the width of its SIMD-groups; else nothing changes.
// Ensures: stage legalized; the same results.
// Order: after insert_barriers, since a barrier in front of a step shows that all threads reach the
//   step; at a stage that knows the shape of blocks; after widen_storage, which decides the types
//   that are shuffled. Earlier passes and other targets need not know of shuffles.
// Example:
//   In SIMD-groups of four threads:
//   P[tx] = p[0]                           P[tx] = p[0]
//   barrier                                barrier
//   if tx < 4 {                            if tx < 4 {
//     P[tx] = P[tx] + P[tx + 4]              P[tx] = P[tx] + P[tx + 4]
//   }                                      }
//   barrier                                own[0] = P[tx]
//   if tx < 2 {                            shuffle other: float32 = own[0] by 2 of 4
//     P[tx] = P[tx] + P[tx + 2]            if tx < 2 {
//   }                               ->       own[0] = own[0] + other
//   barrier                                }
//   if tx < 1 {                            shuffle other.1: float32 = own[0] by 1 of 4
//     P[0] = P[0] + P[1]                   if tx < 1 {
//   }                                        P[0] = own[0] + other.1
//   barrier                                }
//   Y[tx] = P[0]                           barrier
//                                          Y[tx] = P[0]
void shuffle_reductions(ir::Kernel& kernel, const ir::Target& target, const Dialect& dialect);

}  // namespace texloom::codegen
