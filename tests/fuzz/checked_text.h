// What has to hold for any text that somebody gives the parser.
#pragma once

#include <optional>
#include <string_view>

#include "lower/lowering.h"

namespace texloom::fuzz {

// The program of the text, or its schedule with a target, if it is one: printed, it is read back
// and prints the same. Throws an InternalError where that is not so, and where what is wrong with a
// text has no place in it.
std::optional<lower::Lowering> checked_program(std::string_view text);

}  // namespace texloom::fuzz
