// From the text form (.tl) back to a program: the inverse of to_string in ir/program.h. The grammar
// is docs/text_form.md.
//
// Printing what was parsed from a printed text gives the same bytes. Nodes are built by the make_
// functions, so a text written by hand may come back simpler: constants fold.
#pragma once

#include <string_view>

#include "ir/program.h"
#include "ir/verify/verify.h"

namespace texloom::ir {

// Reads stages loops, flattened, kernels and legalized. `file` is its name in diagnostics and in
// the locations of statements whose text says none.
//
// The program keeps the rules of its stage (ir/verify/verify.h). Throws a UserError otherwise:
//   SyntaxError    a word that cannot stand where it is
//   BadText        an unknown name, operands that do not fit, a number out of range
//   BadProgram     a rule of the stage is broken; all that are found
//   ProgramTooDeep more than kMaxDepth expressions or statements inside one another
Program parse_program(std::string_view text, std::string_view file, VerifyOptions options = {});

}  // namespace texloom::ir
