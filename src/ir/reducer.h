// Finds and substitutes the variables of reducers.
#pragma once

#include "ir/expr.h"
#include "ir/visit.h"

namespace texloom::ir {

// The largest result or identity of a reducer, in nodes. Sharing can make a few lines exponentially
// large, and reducers are compared by their text.
inline constexpr uint32_t kMaxReducerSize = 1'000;

bool is_operand(const Reducer& reducer, const Var& v);

// The variables that the reducer uses besides its operands, such as axes of the computed tensor:
// each once, in order of first use.
Exprs parameters_of(const Reducer& reducer);

// Replaces parameters by their values.
Reducer substitute(Reducer reducer, const Substitution& values);

}  // namespace texloom::ir
