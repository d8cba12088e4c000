// What an internal error was about, kept in a file that its report can be attached with.
#pragma once

#include <exception>
#include <string>

#include "support/check.h"
#include "support/function_ref.h"

namespace texloom {

// The error, with the program that shows it. `text` gives the program in the text form; it is
// written to a new file in the temporary directory, behind comments that say what failed and how
// texloom-opt with these options shows it again. The message names the file. Where the text cannot
// be made or written, the error is as it was.
InternalError with_dump(const std::exception& error, const std::string& options,
                        FunctionRef<std::string()> text);

}  // namespace texloom
