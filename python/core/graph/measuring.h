// Binds the measurement of compiled graphs.
#pragma once

#include "core/graph/graph_compilation.h"

namespace texloom::python {

void bind_measuring(CompiledGraphClass& compiled);

}  // namespace texloom::python
