// Structural equality, and hashes that agree with it: same structure, same constants, same tensors.
// Variables and buffers that a node or program defines need only correspond to one another, so that
// a program equals its copy; all others are compared by identity. Names and locations do not
// matter.
#pragma once

#include <cstddef>

#include "ir/program.h"

namespace texloom::ir {

bool equal(const Expr& a, const Expr& b);
bool equal(const Stmt& a, const Stmt& b);
// The names of the programs and of their kernels must be equal too.
bool equal(const Program& a, const Program& b);

size_t structural_hash(const Expr& e);
size_t structural_hash(const Stmt& s);

}  // namespace texloom::ir
