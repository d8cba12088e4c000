// One read for each texel.
#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// What it does: binds a texel that is read more than once, at equal coordinates, to a variable:
// in the innermost block of statements that holds all the reads, before the first of them.
// Why here: after unrolling, which puts the statements that want different lanes of one texel
// side by side; before code generation, where each TextureLoad is one instruction.
// Before: stage Kernels; a kernel that reads a texture does not write it, so that the value of a
// texel does not change. After: the same, and definitions are unique. A read may be moved out of a
// branch that is not taken, because reading outside an image is defined (zero). Coordinates that
// load from buffers or divide by a variable are no such thing: equal ones are shared within one
// statement, if it evaluates one of them in any case.
//
//     c[0] = t.load(x, y).lane[0]         let t.texel = t.load(x, y)
//     c[1] = t.load(x, y).lane[1]   ->    c[0] = t.texel.lane[0]
//                                         c[1] = t.texel.lane[1]
//
// Takes time nearly linear in the size of the program.
void share_texels(Lowering& lowering);

// The same of the body of one kernel.
ir::Stmt share_texels_in(const ir::Stmt& body);

}  // namespace texloom::lower
