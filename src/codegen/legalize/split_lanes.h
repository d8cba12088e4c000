// Replaces vectors that a dialect does not have by scalars.
#pragma once

#include "codegen/legalize/dialect.h"
#include "ir/program.h"

namespace texloom::codegen {

// Purpose: computes a vector lane by lane if the dialect cannot compute it as a whole:
//   * vectors with a number of lanes that the dialect lacks, and unsupported vectors of bools;
//   * loads and stores of elements that are not consecutive, and Ramps that are not an index;
//   * sines, cosines and tangents, if those of vectors are not exact;
//   * one lane of a vector at an index that is not constant;
//   * Selects with vector conditions, and ands and ors of vectors, if an operand that need not be
//     evaluated loads from a buffer what the condition does not load. Scalars are evaluated lazily,
//     vectors are not, and a load that the condition guards may be outside its buffer.
// Requires: stage kernels.
// Ensures: stage kernels; the rules Widths, Lanes and Accesses of verify_dialect.h hold.
// Order: before other rewrites, on types as the user wrote them; it makes only nodes that the other
//   rewrites accept. Texels are shared afterwards, since lanes may read one texel several times.
// Example:
//   y[ramp(i, 2, 4)] = x4           ->    y[i] = x4.lane[0]  y[i + 2] = x4.lane[1]  ...
//   select(ramp(i, 1, 2) < x2(n), x[ramp(i, 1, 2)], x2(0.0))
//       ->    pack(select(i < n, x[i], 0.0), select(i + 1 < n, x[i + 1], 0.0))
ir::Stmt split_lanes(const ir::Stmt& body, const Dialect& dialect);

}  // namespace texloom::codegen
