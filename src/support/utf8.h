// Checks text that comes from files.
#pragma once

#include <string_view>

namespace texloom {

// Whether the bytes are UTF-8: no overlong forms, no surrogates, nothing beyond U+10FFFF.
bool is_utf8(std::string_view text);
// Whether the bytes are UTF-8 without control characters, which a terminal might obey.
bool is_plain_text(std::string_view text);

}  // namespace texloom
