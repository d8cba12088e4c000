// Inlines stages into the expressions of their readers.
#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: refuses outputs that are attached or inlined, since an output needs its own loops.
// Requires: stage te.
// Ensures: the same schedule, whose outputs are at the root. Fails with OutputAttached.
// Order: before apply_declarations, which turns arguments into outputs: an argument that is not an
//   output of the schedule may be attached or inlined.
// Example:
//   compute B(i < 8): float32 = A[i] + 1.0
//     output                                    ->    error[TL3017]
//     inline
void check_outputs_at_root(Lowering& lowering);

// Purpose: keeps stages at the root that the schedule inlines but that cannot be inlined.
// Requires: stage te.
// Ensures: no extern, no input of an extern and no scan is inlined. An extern has no expression
//   that its readers could compute, and it reads memory itself; a scan reads the rows that it
//   stored before.
// Order: before warn_of_lost_directives, which warns for stages that are inlined.
// Example:
//   extern B: float32[8]               extern B: float32[8]
//     inline                     ->
void keep_at_root(Lowering& lowering);

// Purpose: warns of directives on the loops of inlined stages, which have no loops.
// Requires: stage te.
// Ensures: the same schedule, with one warning AnnotationIgnored for each such stage.
// Order: after keep_at_root, which decides what stays inlined; before drop_copies_of_textures,
//   which inlines stages that the user did not inline.
// Example:
//   compute B(i < 8): float32 = A[i] + 1.0
//     inline                                    ->    warning[TL3021]
//     unroll i
void warn_of_lost_directives(Lowering& lowering);

// Purpose: inlines caches of arguments that are in the same kind of texture already, so that their
//   readers read the argument.
// Requires: stage te.
// Ensures: stage te. A cache that an extern reads stays, because an extern has no expression that
//   could read the argument instead.
// Order: after apply_declarations, which shows which arguments are in textures; before
//   inline_stages, which substitutes the argument in the readers.
// Example:
//   param A: float32[4, 8] in texture
//   compute A.texture(i < 4, j < 8): float32 = A[i, j]    ->    ...
//     scope texture                                               scope texture
//                                                                 inline
void drop_copies_of_textures(Lowering& lowering);

// Purpose: substitutes the expressions of inlined stages into their readers.
// Requires: stage te.
// Ensures: no stage reads an inlined stage. Inlined stages are still part of the schedule. Fails
//   with CannotInline for a stage with several outputs.
// Order: after drop_copies_of_textures, which inlines more stages; before bounds are inferred from
//   the reads. Visits the stages in topological order, so that an inlined stage already contains
//   its own inlined inputs.
// Example:
//   compute B(i < 8): float32 = A[i] * 2.0    ->    compute B(i < 8): float32 = A[i] * 2.0
//     inline                                          inline
//   compute C(i < 8): float32 = B[i] + 1.0          compute C(i < 8): float32 = A[i] * 2.0 + 1.0
void inline_stages(Lowering& lowering);

}  // namespace texloom::lower
