// Values and arrays that nothing uses.
#pragma once

#include "ir/program.h"

namespace texloom::codegen::opencl {

// What it does: leaves out each Let whose variable nothing reads, those that only it reads, and
// arrays that nothing accesses.
// Why here: last, since building a node folds constants, and what is folded away may have been the
// only user; device compilers warn of such variables.
// Before and after: stage Legalised.
//
//     let t = texture2d.load(T, x=0, y=0)    ->    Y[i] = 0.0
//     Y[i] = 0.0
ir::Stmt drop_unused_values(const ir::Stmt& body);

}  // namespace texloom::codegen::opencl
