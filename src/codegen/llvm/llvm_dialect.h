// The dialect of LLVM's intermediate representation.
#pragma once

#include "codegen/legalize/dialect.h"
#include "ir/target/target.h"

namespace texloom::codegen::native {

Dialect llvm_dialect(const ir::Target& target);

}  // namespace texloom::codegen::native
