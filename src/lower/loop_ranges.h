// What is known of all loop variables of a body: what holds in all loops over one of them.
#pragma once

#include "ir/arith/ranges.h"
#include "ir/stmt.h"

namespace texloom::lower {

ir::arith::Ranges loop_ranges(const ir::Stmt& body);

}  // namespace texloom::lower
