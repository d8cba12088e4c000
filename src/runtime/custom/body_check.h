// Finds uses of arguments in the body of a source kernel that do not fit their declaration.
#pragma once

#include <span>
#include <string_view>

#include "runtime/custom/operator.h"
#include "support/status.h"

namespace texloom::runtime {

// Checks each word with an argument, such as `tl_load(x, …)`: that `x` is an argument and has the
// storage and the access that the word needs. Without this check, the device's compiler would
// report an error in the words' macros, which users do not know. Returns InvalidArgument, with the
// line of the body and the word that fits. A body with preprocessor directives is left to the
// compiler.
Status check_body(std::string_view body, std::span<const OperatorArgument> arguments);

// Whether the body has a vector literal of OpenCL C, such as (float4)(a, b, c, d). In languages
// that derive from C++, the commas are operators, so only d is converted.
bool has_vector_literal(std::string_view body);

}  // namespace texloom::runtime
