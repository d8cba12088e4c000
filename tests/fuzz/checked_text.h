// Checks the invariants of the parser for arbitrary text.
#pragma once

#include <optional>
#include <string_view>

#include "lower/lowering.h"

namespace texloom::fuzz {

// Returns the program of the text, or its schedule with a target, if the text is valid; its printed
// form must parse and print the same. Throws an InternalError if that fails, or if a diagnostic has
// no location in the text.
std::optional<lower::Lowering> checked_program(std::string_view text);

}  // namespace texloom::fuzz
