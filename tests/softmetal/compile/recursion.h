// Finds recursion, which Metal forbids.
#pragma once

#include <string>
#include <vector>

#include "tests/softmetal/source/program.h"

namespace softmetal {

// Adds an error for each cycle of calls. Names do not distinguish overloads and template instances,
// so cycles of names, `program.recursion_candidates`, are checked in clang's output.
void check_recursion(const std::string& text, std::vector<std::string> clang_command,
                     const Program& program, const std::string& folder,
                     std::vector<Message>& messages);

}  // namespace softmetal
