// Whether kernels access memory as often as traffic_of says.
#pragma once

#include <string>

#include "ir/interpret/access_count.h"
#include "ir/program.h"

namespace texloom::validation {

// Of a program of stage Legalised without symbols, against what one run of it counted:
// equal where the count is exact, else no more. The first difference; empty where there is none.
// Kernels that are not launched once are left out.
std::string wrong_traffic(const ir::Program& program, const ir::AccessCounts& counted);

}  // namespace texloom::validation
