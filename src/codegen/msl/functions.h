// Names element functions in Metal's language, and defines those that it lacks.
#pragma once

#include <string>

#include "codegen/c/prelude.h"
#include "ir/expr.h"
#include "ir/target/target.h"

namespace texloom::codegen::msl {

// "precise::exp", "fast::exp" for native_exp, "rint" for nearbyint, ...; the name of a function in
// the prelude if the language lacks the function. `type` is the type of the arguments and the
// result: float32 or float16, an integer for popcount and clz, or a vector of these.
std::string function_name(ir::Intrinsic function, ir::Type type, ir::LanguageVersion language,
                          Prelude& prelude);

}  // namespace texloom::codegen::msl
