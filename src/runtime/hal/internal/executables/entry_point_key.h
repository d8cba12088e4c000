// The part of a binary's cache key that describes the program's entry points.
#pragma once

#include <vector>

#include "runtime/hal/binary_cache.h"
#include "runtime/hal/executable.h"

namespace texloom::hal {

// Adds the entry points with their parameters. A stored binary then serves only the parameters that
// its kernels were checked against: a kernel made from a binary may not describe its parameters, so
// the kernel cannot be checked again.
void add_entry_points(BinaryKey& key, const std::vector<EntryPoint>& entry_points);

}  // namespace texloom::hal
