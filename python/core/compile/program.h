// Programs as Python objects.
#pragma once

#include <string>

#include "compile/compile.h"
#include "core/handles.h"

namespace texloom::python {

using PyProgram = compile::SourceProgram;

// The options for a call from Python: verify after every pass if TEXLOOM_DEBUG is set, and report
// errors at the user's line.
compile::CompileOptions compile_options(bool checked = false);

// Throws if Ctrl-C was pressed, to end a compilation. Must be called without holding the GIL.
void hear_interrupt();

// Shows the warnings at the user's line.
void show_warnings(const std::vector<Diagnostic>& warnings);

}  // namespace texloom::python
