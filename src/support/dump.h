// Saves the program that triggered an internal error, to be attached to the bug report.
#pragma once

#include <cstddef>
#include <exception>
#include <string>

#include "support/check.h"
#include "support/function_ref.h"

namespace texloom {

// How many dumps of each user a temporary directory keeps; writing one more deletes the oldest.
inline constexpr std::size_t kKeptDumps = 20;

// Returns the error with the path of a dump added to its message. The dump is a new file in the
// temporary directory: comments that say what failed and how texloom-opt reproduces it with these
// `options`, then the program in the text form, as returned by `text`. If the text cannot be made
// or written, the message stays the same.
InternalError with_dump(const std::exception& error, const std::string& options,
                        FunctionRef<std::string()> text);

}  // namespace texloom
