// Measures the code of a statement.
#pragma once

#include <cstdint>

#include "ir/stmt.h"

namespace texloom::ir {

// Counts each store to a buffer or a texture in the statement once, however often it runs.
int64_t count_stores(const Stmt& s);

}  // namespace texloom::ir
