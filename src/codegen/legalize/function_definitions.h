// Defines element functions in terms of other functions, for languages that lack them.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "ir/expr.h"

namespace texloom::codegen {

// A function of float32 scalars. The function has no loops and no memory, so that a language can
// spell it as a function, or in place of a call.
struct FunctionDefinition {
  ir::Exprs parameters;                               // Vars
  std::vector<std::pair<ir::Expr, ir::Expr>> values;  // Vars and their values, in order
  ir::Expr result;
};

// Whether the function has a definition.
bool is_defined(ir::Intrinsic function);
// The definition of a function. The definition calls only functions that are defined here or that
// every language has. The definition keeps OpenCL C's error bounds and special cases, and every
// intermediate value is defined, also for infinities and NaNs.
std::optional<FunctionDefinition> definition_of(ir::Intrinsic function);

}  // namespace texloom::codegen
