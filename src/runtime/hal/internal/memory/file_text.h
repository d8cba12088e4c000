// Reads small files without streams, whose locales would be a third of a static program.
#pragma once

#include <string>

namespace texloom::hal {

// The content of a file; what could be read, if reading fails. Suits files of /proc, which state no
// size.
std::string text_of_file(const char* path);

}  // namespace texloom::hal
