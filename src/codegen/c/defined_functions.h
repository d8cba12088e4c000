// Prints the definitions of functions that a C-like language lacks.
#pragma once

#include <string>

#include "codegen/c/expr_printer.h"
#include "codegen/legalize/function_definitions.h"

namespace texloom::codegen {

// "tl_erf"
std::string defined_name(ir::Intrinsic function);
// The C function of a definition, after declarations of the defined functions that it calls. The
// printer is used for this function alone; its prelude gets what the function calls.
std::string function_text(ExprPrinter& exprs, const std::string& name,
                          const FunctionDefinition& definition);
// A function of vectors of this type, which calls the one of scalars, `name`, for each lane.
std::string function_by_lanes(const std::string& name, const std::string& wide, ir::Type type,
                              int arity);

}  // namespace texloom::codegen
