// Describes Metal's language as a dialect.
#pragma once

#include "codegen/legalize/dialect.h"
#include "ir/target/target.h"

namespace texloom::codegen::msl {

// Arguments are aligned to 16 bytes: that suffices for every vector that is accessed at once.
Dialect msl_dialect(const ir::Target& target);

}  // namespace texloom::codegen::msl
