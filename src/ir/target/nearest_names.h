// Names of targets and processors that a user may have meant by a misspelled one, for help lines.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace texloom::ir {

// Those of the names that are nearest to `word`, in their order, at most five. Capitals do not
// count. A name is near if it begins with at least three characters that are the whole word, or if
// an insertion, a deletion or a replacement for each three characters of the word makes the name of
// it.
std::vector<std::string> nearest_names(std::string_view word, std::span<const std::string> names);

// "write haswell", "write cortex-a55 or cortex-a76"; empty if no name is near.
std::string nearest_help(std::string_view word, std::span<const std::string> names);

}  // namespace texloom::ir
