// Reads the launch plans of an index. Only for the sources of this folder.
#pragma once

#include <string>
#include <vector>

#include "runtime/package/index_values.h"
#include "runtime/package/package_file.h"
#include "runtime/package/section_table.h"

namespace texloom::runtime {

// Copies a plan without its symbols, with the code from the sections. If `values` then has an
// error, the plan must not be used.
LaunchPlan read_plan(const index::Plan& plan, IndexValues& values, SectionTable& sections,
                     const PackageOptions& options);

}  // namespace texloom::runtime
