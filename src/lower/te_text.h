// Prints and parses the text form (docs/text_form.md) of a Lowering at every stage: at stage te the
// schedule with its arguments and the target, later only the program.
#pragma once

#include <string>
#include <string_view>

#include "ir/verify/verify.h"
#include "lower/lowering.h"

namespace texloom::lower {

std::string to_string(const Lowering& lowering, ir::PrintOptions options = {});

// The inverse of to_string; `file` is the name of the text in diagnostics. A text of a later stage
// has no target: the caller sets it. Throws a UserError like ir::parse_program, at stage te also
// with the codes of directives.
Lowering parse_lowering(std::string_view text, std::string_view file,
                        ir::VerifyOptions options = {});

// Throws an InternalError unless the printed text survives a round trip through the parser.
void check_text(const Lowering& lowering, ir::VerifyOptions options = {});

}  // namespace texloom::lower
