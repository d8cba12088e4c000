// Makes one read of each texel serve all its uses.
#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: binds a texel that is read more than once, at equal coordinates, to a variable, in the
//   innermost block of statements that contains all the reads, before the first of them.
//   A read may move out of a branch that is not taken, because reading outside an image is defined
//   (zero). Coordinates that load from buffers or divide by a variable may fail outside the branch:
//   reads at such coordinates are shared only within one statement, and only if the statement
//   evaluates one of the reads unconditionally. Takes time nearly linear in the size of the
//   program.
// Requires: stage kernels, each definition unique (unique_definitions.h), so that equal coordinates
//   are equal values. A kernel that reads a texture does not write it, so that texels do not
//   change.
// Ensures: stage kernels, each definition unique.
// Order: after unroll_loops, which puts the statements that use different lanes of one texel side
//   by side; before code generation, where each read of a texel is one instruction.
// Example:
//   c[0] = t.load(x, y).lane[0]         let t.texel = t.load(x, y)
//   c[1] = t.load(x, y).lane[1]   ->    c[0] = t.texel.lane[0]
//                                       c[1] = t.texel.lane[1]
void bind_texels(Lowering& lowering);

// Binds the texels in the body of one kernel, whose definitions need not be unique.
ir::Stmt bind_texels(const ir::Stmt& body);

}  // namespace texloom::lower
