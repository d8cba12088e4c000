// Measures the code of a statement.
#pragma once

#include <cstdint>

#include "ir/stmt.h"

namespace texloom::ir {

// The number of stores to buffers and textures in the text of the statement, however often each
// runs.
int64_t count_stores(const Stmt& s);

}  // namespace texloom::ir
