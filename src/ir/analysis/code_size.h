// How long the code of a statement is.
#pragma once

#include <cstdint>

#include "ir/stmt.h"

namespace texloom::ir {

// Stores to buffers and textures in its text, each once however often it runs.
int64_t count_stores(const Stmt& s);

}  // namespace texloom::ir
