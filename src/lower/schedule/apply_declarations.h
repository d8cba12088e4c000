// Applies the storage that decl_buffer() and transform_layout() declare.
#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: gives the stage of each argument the storage that its declaration states, and makes it
//   an output, because the caller sees it.
// Requires: stage te.
// Ensures: the scope and the layout of an argument's stage at the root are those of its
//   declaration. An input is in global memory; check_schedule refuses a declaration that says
//   otherwise.
// Order: after check_outputs_at_root; before drop_copies_of_textures, which compares storage.
// Example:
//   param B: float32[4, 8] in texture
//   compute B(i < 4, j < 8): float32 = A[i, j]    ->    compute B(i < 4, j < 8): ...
//                                                         output
//                                                         scope texture
void apply_declarations(Lowering& lowering);

// Purpose: converts each transform_layout to an explicit layout.
// Requires: stage te.
// Ensures: each stage with a transform_layout has that layout. Fails with BadLayout for a stage
//   that also has a layout, or that is attached: its region is only part of the tensor.
// Order: after apply_declarations, so that scopes are known: a layout depends on the scope.
// Example:
//   compute B(h < 4, w < 8): ...              compute B(h < 4, w < 8): ...
//     scope texture                     ->      scope texture layout=texture[(d0, d1) -> ...]
//     transform (h, w) -> (w, h)                transform (h, w) -> (w, h)
void apply_transforms(Lowering& lowering);

}  // namespace texloom::lower
