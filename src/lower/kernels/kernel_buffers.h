// Finds the global memory that a kernel reads and writes.
#pragma once

#include <utility>
#include <vector>

#include "ir/program.h"

namespace texloom::lower {

// The buffers and textures in global memory: those that are read, in order of appearance, then
// those that are written only.
std::vector<std::pair<ir::Buffer, ir::Access>> buffers_of(const ir::Stmt& body);

// Updates how each parameter is accessed after a change of the body. A parameter that nothing
// accesses any more keeps its declared access.
void update_access(ir::Kernel& kernel);

}  // namespace texloom::lower
