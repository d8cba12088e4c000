// Checks the invariants of the parser for arbitrary text.
#pragma once

#include <optional>
#include <string_view>

#include "lower/lowering.h"

namespace texloom::fuzz {

// If the text is valid, returns its program, or its schedule with a target. Throws an InternalError
// if the printed form does not parse and print the same, or if a diagnostic has no location in the
// text.
std::optional<lower::Lowering> checked_program(std::string_view text);

}  // namespace texloom::fuzz
