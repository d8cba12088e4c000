// The reads of tensors in an expression, with what is known where they happen.
#pragma once

#include "ir/arith/ranges.h"
#include "ir/visit.h"

namespace texloom::schedule {

// Calls `see` for each read in the expression that may happen at these points, with what the
// conditions around it imply.
void for_each_possible_read(
    const ir::Expr& e, const ir::arith::Ranges& points,
    texloom::FunctionRef<void(const ir::TensorRead&, const ir::arith::Ranges&)> see);

}  // namespace texloom::schedule
