// Defines the element functions that Metal's language lacks, and that need the bits of a float or
// loops: legalize/function_definitions.h has the others.
#pragma once

#include <string>
#include <string_view>

#include "codegen/c/prelude.h"

namespace texloom::codegen::msl {

// Adds to the prelude the function `name`, tl_tgamma or tl_nextafter, for float32 or a vector of
// it, and returns its name for that type.
std::string missing_function(Prelude& prelude, std::string_view name, ir::Type type);

}  // namespace texloom::codegen::msl
