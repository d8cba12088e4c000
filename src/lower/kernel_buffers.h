// What memory of the program a kernel reads and writes.
#pragma once

#include <utility>
#include <vector>

#include "ir/program.h"

namespace texloom::lower {

// The buffers and textures in global memory: those that are read in order of appearance, then those
// that are written alone.
std::vector<std::pair<ir::Buffer, ir::Access>> buffers_of(const ir::Stmt& body);

// Says of each parameter how it is accessed now that the body has changed. Those that nothing
// accesses any more stay what they were.
void update_access(ir::Kernel& kernel);

}  // namespace texloom::lower
