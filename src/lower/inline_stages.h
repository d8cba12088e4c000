// Stages that are computed in the expressions of their readers.
#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Fails with OutputAttached where an output is attached or inlined: it has loops of its own. Before
// apply_declarations(), as an argument that is no output may be either.
void check_outputs_at_root(const schedule::Schedule& s);

// Takes back what inlining cannot be: a statement has no expression that its readers could compute,
// and reads memory itself; a scan goes on from what lies there.
void keep_at_root(schedule::Schedule& s);

// Warns of directives on loops of inlined stages, which have none: one warning for each stage.
void warn_of_lost_directives(Lowering& lowering);

// Inlines caches of arguments that lie in the same texture already: their readers read the
// argument. Not where a statement reads one, which has no expression to read it in.
void drop_copies_of_textures(schedule::Schedule& s);

// Writes the expressions of inlined stages into their readers. In topological order, so that an
// inlined stage has its own inlined inputs in it already. Fails with CannotInline.
void inline_stages(schedule::Schedule& s);

}  // namespace texloom::lower
