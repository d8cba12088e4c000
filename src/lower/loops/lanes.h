// Extracts single lanes of vector expressions.
#pragma once

#include "ir/expr.h"

namespace texloom::lower {

// Returns lane `lane` of a vector expression as a scalar expression; a scalar is its own lane.
ir::Expr lane_of(const ir::Expr& e, int lane);

}  // namespace texloom::lower
