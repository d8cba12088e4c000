// Functions that call themselves, which Metal does not have.
#pragma once

#include <string>
#include <vector>

#include "tests/softmetal/source/program.h"

namespace softmetal {

// Adds an error for each circle of calls. Names of functions do not tell overloads and instances of
// a template apart, so that circles of names, `program.recursion_candidates`, are looked up in the
// code that clang makes.
void check_recursion(const std::string& text, std::vector<std::string> clang_command,
                     const Program& program, const std::string& folder,
                     std::vector<Message>& messages);

}  // namespace softmetal
