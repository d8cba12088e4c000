// Programs as Python holds them.
#pragma once

#include <string>

#include "compile/compile.h"
#include "core/handles.h"

namespace texloom::python {

using PyProgram = compile::SourceProgram;

// For a call from Python: verify after every pass where TEXLOOM_DEBUG is set, and blame the user's
// line.
compile::CompileOptions compile_options(bool checked = false);

// Lets Ctrl-C end a compilation that runs without Python's lock. Call it without the lock.
void hear_interrupt();

// Shows the warnings at the user's line.
void show_warnings(const std::vector<Diagnostic>& warnings);

}  // namespace texloom::python
