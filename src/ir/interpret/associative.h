// Tries whether the grouping of the values that a reducer combines matters.
#pragma once

#include "ir/expr.h"

namespace texloom::ir {

// Whether (a . b) . c differs from a . (b . c) by more than rounding for some of a few positive
// numbers, as for x - y. False if the combination needs more than the values: memory, outer
// variables, foreign functions.
bool depends_on_grouping(const Reducer& reducer);

}  // namespace texloom::ir
