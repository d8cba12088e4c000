// Finds vector accesses whose alignment is known.
#pragma once

#include <optional>

#include "codegen/legalize/dialect.h"
#include "ir/arith/ranges.h"
#include "ir/program.h"

namespace texloom::codegen {

// Purpose: rewrites the index of a vector access as ramp(q * lanes, 1, lanes), if the index of its
//   first element is provably a multiple of the lanes and a vector is not wider than the dialect's
//   alignment. Printers spell only that form as an access of an array of vectors, which is one
//   instruction instead of one for each element.
// Requires: stage legalized; vector accesses are ramps of stride 1.
// Ensures: stage legalized; the same accesses of the same elements.
// Order: after arrays have their final types, and before integer operations are made explicit,
//   since q may contain a division.
// Example:
//   s[ramp(i * 8 + 4, 1, 4)]    ->    s[ramp((i * 2 + 1) * 4, 1, 4)]
ir::Stmt align_accesses(const ir::Stmt& body, const ir::arith::Ranges& ranges,
                        const Dialect& dialect);

// The number of the vector in its buffer that an access reads or writes, if the access has the form
// above; nullopt if it may begin at any element.
std::optional<ir::Expr> vector_number(const ir::BufferNode& buffer, const ir::Expr& index,
                                      const Dialect& dialect);

}  // namespace texloom::codegen
