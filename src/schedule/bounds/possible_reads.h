// Finds the reads of tensors in an expression, and the facts known where each read happens.
#pragma once

#include "ir/arith/ranges.h"
#include "ir/visit.h"

namespace texloom::schedule {

// Calls `see` for each read in the expression that may happen at these points, with the facts that
// follow from the conditions around the read.
void for_each_possible_read(
    const ir::Expr& e, const ir::arith::Ranges& points,
    texloom::FunctionRef<void(const ir::TensorRead&, const ir::arith::Ranges&)> see);

}  // namespace texloom::schedule
