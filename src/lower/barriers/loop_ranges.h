// The ranges of all loop variables of a body: a range holds in all loops over the variable.
#pragma once

#include "ir/arith/ranges.h"
#include "ir/stmt.h"

namespace texloom::lower {

ir::arith::Ranges loop_ranges(const ir::Stmt& body);

}  // namespace texloom::lower
