// Sizes as text, such as "(x.width + 3) / 4".
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "runtime/hal/size_expression.h"
#include "support/status.h"

namespace texloom::runtime {

// Parses whole numbers, names, + - * / %, min(a, b), max(a, b) and parentheses; / and % round down.
// A name stands for the symbol whose number is its position in `names`. InvalidArgument, with the
// position in the text.
Result<hal::Size> parse_size(std::string_view text, std::span<const std::string> names);

// The text from which parse_size() makes the size. The size has no loop variables, and negative
// numbers only where they are subtracted: "(x.width + 3) / 4".
std::string size_text(const hal::Size& size, std::span<const std::string> names);

}  // namespace texloom::runtime
