// Whether a processor multiplies and adds with one rounding.
#pragma once

#include "ir/target/target.h"

namespace texloom::ir {

// Whether all processors that a machine describes have an instruction for fused products of floats.
// Without one, a fused product takes some twenty operations, while a product and a sum take two.
// Known without LLVM, so that a program is lowered alike wherever it is lowered; `native` means the
// processor of this machine.
bool has_fused_products(const Machine& machine);

}  // namespace texloom::ir
