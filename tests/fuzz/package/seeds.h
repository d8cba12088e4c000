// Packages from which fuzzers begin.
#pragma once

#include <cstddef>
#include <vector>

namespace texloom::fuzz {

using Bytes = std::vector<std::byte>;

// Files that together have every kind of part. Some are written by hand; others are compiled from
// programs, whose kernels the interpreter runs. One file holds several packages. Every process gets
// the same files.
std::vector<Bytes> seed_packages();

// The file among them whose packages have native code, which a device prefers.
std::vector<Bytes> native_seed_packages();

}  // namespace texloom::fuzz
