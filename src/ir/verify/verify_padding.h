// Checks the rule about padding, for ir/verify/verify.h: no value depends on padding whose contents
// its layout leaves undefined.
//
// A layout states that its padding is zero, or that it is undefined. The rule has two parts:
// - No element in global memory, which the caller or another kernel sees, is computed from
//   undefined padding.
// - A store writes zero to every lane of padding that its layout states to be zero.
//
// Whether a texel has padding depends on its coordinates, so each store is checked twice: with all
// enclosing loops and threads in their first iteration, and with all of them in their last. Values
// that went through memory are not checked, nor are stores for which a condition, an index or a
// lane is not constant even then: the interpreter checks these.
#pragma once

#include <vector>

#include "ir/verify/verify.h"

namespace texloom::ir {

// Checks the kernels of a program that breaks no other rule.
std::vector<Violation> find_padding_violations(const Program& program);

}  // namespace texloom::ir
