// Names element functions in Metal's language, and defines those that it lacks.
#pragma once

#include <string>

#include "codegen/c/prelude.h"
#include "ir/expr.h"
#include "ir/target/target.h"

namespace texloom::codegen::msl {

// "precise::exp", "fast::exp" for native_exp, "rint" for nearbyint, ...; the name of a function of
// the prelude where the language has none. `type` is of the arguments and of the result: float32 or
// float16, an integer for popcount and clz, or vectors of them.
std::string function_name(ir::Intrinsic function, ir::Type type, ir::LanguageVersion language,
                          Prelude& prelude);

}  // namespace texloom::codegen::msl
