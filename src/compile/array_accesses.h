// Finds out what a call does to each of its arrays.
#pragma once

#include <optional>
#include <vector>

#include "ir/program.h"
#include "lower/lowering.h"

namespace texloom::compile {

// For each array of a call, whether the program computes it, so that the array's earlier values do
// not matter. nullopt if this is unknown, as for programs that were read from text.
using ComputedArrays = std::vector<std::optional<bool>>;
ComputedArrays computed_arrays(const lower::Lowering& lowering);

// For each array of a call, in order:
// * Write: an output, which is computed and written;
// * ReadWrite: an input that is also written;
// * Read: not written by any kernel.
// If it is unknown whether the program computes an array, the array counts as an input if a kernel
// reads it, although it may hold partial results of a reduction.
std::vector<ir::Access> array_accesses(const ir::Program& program, const ComputedArrays& computed);

}  // namespace texloom::compile
