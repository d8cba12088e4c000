// Runs programs in the interpreter, to compare what they compute before and after legalizing.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "ir/program.h"

namespace texloom::codegen::testing {

// The contents of the parameters after the program has run on small numbers; nothing if the program
// calls foreign functions, has symbols, cannot be interpreted or has a fault.
std::optional<std::vector<std::vector<std::byte>>> interpreted(const ir::Program& program);

}  // namespace texloom::codegen::testing
