// Collects the ranges of all loop variables of a body. A range is valid in every loop over its
// variable.
#pragma once

#include "ir/arith/ranges.h"
#include "ir/stmt.h"

namespace texloom::lower {

ir::arith::Ranges loop_ranges(const ir::Stmt& body);

}  // namespace texloom::lower
