// Packages from which fuzzers begin.
#pragma once

#include <cstddef>
#include <vector>

namespace texloom::fuzz {

using Bytes = std::vector<std::byte>;

// Files with every kind of part: written by hand, and compiled from programs, whose kernels the
// interpreter runs; one has several packages. The same in every process.
std::vector<Bytes> seed_packages();

}  // namespace texloom::fuzz
