// Defines the element functions that Metal's language lacks and that need loops or the bits of a
// float. legalize/function_definitions.h defines the other missing functions.
#pragma once

#include <string>
#include <string_view>

#include "codegen/c/prelude.h"

namespace texloom::codegen::msl {

// Adds the function `name`, tl_tgamma or tl_nextafter, for float32 or a vector of float32 to the
// prelude. Returns the function's name for this type.
std::string missing_function(Prelude& prelude, std::string_view name, ir::Type type);

}  // namespace texloom::codegen::msl
