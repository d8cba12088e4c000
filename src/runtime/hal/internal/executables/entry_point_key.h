// The key of a program's table of kernels, on which the compiled program depends besides its code.
#pragma once

#include <vector>

#include "runtime/hal/binary_cache.h"
#include "runtime/hal/executable.h"

namespace texloom::hal {

// Adds the entry points with their parameters. A stored binary is used only for the parameters that
// the kernels were checked against, as those made from a binary need not describe theirs.
void add_entry_points(BinaryKey& key, const std::vector<EntryPoint>& entry_points);

}  // namespace texloom::hal
