// The text form (docs/text_form.md) of what passes work on, at every stage: of stage te the
// schedule with its arguments and the target, later the program alone.
#pragma once

#include <string>
#include <string_view>

#include "ir/verify.h"
#include "lower/lowering.h"

namespace texloom::lower {

std::string to_string(const Lowering& lowering, ir::PrintOptions options = {});

// The inverse; `file` is the text's name in diagnostics. A text of a later stage has no target:
// the caller sets it. Throws a UserError like ir::parse_program; of stage te also with the codes of
// directives.
Lowering parse_lowering(std::string_view text, std::string_view file,
                        ir::VerifyOptions options = {});

// Throws an InternalError unless the text, parsed, prints the same.
void check_text(const Lowering& lowering, ir::VerifyOptions options = {});

}  // namespace texloom::lower
