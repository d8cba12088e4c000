// What has to hold for any text that somebody gives the parser.
#pragma once

#include <optional>
#include <string_view>

#include "ir/program.h"

namespace texloom::fuzz {

// The program of the text, if it is one: printed, it is read back and prints the same. Throws an
// InternalError where that is not so, and where what is wrong with a text has no place in it.
std::optional<ir::Program> checked_program(std::string_view text);

}  // namespace texloom::fuzz
