// The rule about padding, for ir/verify/verify.h: what no layout states is not relied on.
//
// Padding holds what a layout states: zeros, or nothing that is known. Two things rely on it:
// - a value that the caller or another kernel sees. An element in global memory is not computed
//   from padding that is undefined;
// - readers of padding that is zero. A store writes zero to every lane of padding whose layout
//   states that.
//
// Whether a texel has padding depends on its coordinates, so each store is looked at where all
// loops and threads around it are in their first iteration, and where all are in their last. Where
// a condition, an index or a lane is not constant even so, nothing is claimed, nor of values that
// went through memory: the interpreter looks there.
#pragma once

#include <vector>

#include "ir/verify/verify.h"

namespace texloom::ir {

// Of the kernels of a program that breaks no other rule.
std::vector<Violation> find_padding_violations(const Program& program);

}  // namespace texloom::ir
