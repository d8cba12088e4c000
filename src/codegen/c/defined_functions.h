// Prints the definitions of functions that a C-like language lacks.
#pragma once

#include <string>

#include "codegen/c/expr_printer.h"
#include "codegen/legalize/function_definitions.h"

namespace texloom::codegen {

// "tl_erf"
std::string defined_name(ir::Intrinsic function);
// Prints a definition as a C function, after declarations of the defined functions that it calls.
// Each function needs a printer of its own, whose prelude receives the functions that it calls.
std::string function_text(ExprPrinter& exprs, const std::string& name,
                          const FunctionDefinition& definition);
// Prints a function of vectors of this type, which calls the scalar function `name` for each lane.
std::string function_by_lanes(const std::string& name, const std::string& wide, ir::Type type,
                              int arity);

}  // namespace texloom::codegen
