// Checks that the parts of packages fit together.
#pragma once

#include <span>

#include "runtime/package/package.h"
#include "support/status.h"

namespace texloom::runtime {

// Ok if everything that a package refers to exists and fits: names are unique, without control
// characters, and bounded; sizes use known symbols; each plan passes validate(); the place of each
// tensor exists and has its element type; layouts have the places of their storage, and no element
// in two places; callers can pass every argument of a plan. Takes time in proportion to the size of
// the packages, whatever they contain.
//
// The writer and the reader both call this, and check by themselves that each constant has the
// right number of bytes.
//
// InvalidArgument names the package, the variant and the part.
Status check_packages(std::span<const Package> packages);

}  // namespace texloom::runtime
