// Checks whether kernels access memory as often as traffic_of says.
#pragma once

#include <string>

#include "ir/interpret/access_count.h"
#include "ir/program.h"

namespace texloom::validation {

// Compares the traffic of a program of stage legalized, without symbols, with the accesses that one
// run of it counted: they are equal where traffic_of is exact, and no more elsewhere. Returns the
// first difference, or an empty text. Leaves out kernels that are not launched exactly once.
std::string wrong_traffic(const ir::Program& program, const ir::AccessCounts& counted);

}  // namespace texloom::validation
