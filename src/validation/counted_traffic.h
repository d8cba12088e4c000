// Checks whether kernels access memory as often as traffic_of predicts.
#pragma once

#include <string>

#include "ir/interpret/access_count.h"
#include "ir/program.h"

namespace texloom::validation {

// Compares the traffic of a program at stage legalized, without symbols, with the accesses counted
// in one run of it: counts must equal traffic_of if it is exact, and otherwise not exceed it.
// Returns the first difference, or an empty text. Leaves out kernels that are not launched exactly
// once.
std::string wrong_traffic(const ir::Program& program, const ir::AccessCounts& counted);

}  // namespace texloom::validation
