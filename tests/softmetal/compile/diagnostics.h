// Converts clang's messages about a program to the user's lines and to MSL's terms, and prints
// messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/softmetal/source/program.h"

namespace softmetal {

// Reads clang's output. Messages inside the library's headers are moved to the line of the user's
// `file` that caused them.
std::vector<Message> read_clang_messages(std::string_view printed, std::string_view file);

bool has_errors(const std::vector<Message>& messages);

// One line per message, `file:line: error: text`, each followed by the line of the source.
std::string print_messages(const std::vector<Message>& messages, std::string_view source,
                           const std::string& file);

}  // namespace softmetal
