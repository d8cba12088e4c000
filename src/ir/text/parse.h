// Parses the text form (.tl) of a program: the inverse of to_string in ir/program.h. The grammar is
// in docs/text_form.md.
//
// Parsing a printed text and printing the result gives the same bytes. A text written by hand may
// come back simpler, since the make_ functions that build nodes fold constants.
#pragma once

#include <string_view>

#include "ir/program.h"
#include "ir/verify/verify.h"

namespace texloom::ir {

// Reads stages loops, flattened, kernels and legalized. `file` names the text in diagnostics and in
// the locations of statements that state none.
//
// The program keeps the rules of its stage (ir/verify/verify.h). Throws a UserError otherwise:
//   SyntaxError    an unexpected word
//   BadText        an unknown name, operands that do not fit, a number out of range
//   BadProgram     broken rules of the stage: all that are found
//   ProgramTooDeep expressions or statements nested more than kMaxDepth deep
Program parse_program(std::string_view text, std::string_view file, VerifyOptions options = {});

}  // namespace texloom::ir
