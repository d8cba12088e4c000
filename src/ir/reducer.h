// The variables of reducers.
#pragma once

#include "ir/expr.h"
#include "ir/visit.h"

namespace texloom::ir {

// Of a result or an identity, in nodes: sharing can make a few lines exponentially large, and
// reducers are told from one another by their text.
inline constexpr uint32_t kMaxReducerSize = 1'000;

bool is_operand(const Reducer& reducer, const Var& v);

// What it uses besides its operands, such as the axes of the tensor that is computed: each variable
// once, in the order of their first uses.
Exprs parameters_of(const Reducer& reducer);

// With values for parameters.
Reducer substitute(Reducer reducer, const Substitution& values);

}  // namespace texloom::ir
