// Intermediate tensors that are computed inside their readers, and that the caller wants to see.
#pragma once

#include <vector>

#include "ir/stmt.h"
#include "lower/lowering.h"
#include "schedule/bounds.h"

namespace texloom::lower {

// Whether what the stage computes lies in the caller's array itself, if it is an argument: at the
// root, and in memory that all kernels see. The part of a block or a thread is copied there.
bool lies_in_array(const schedule::Schedule& schedule, const schedule::Stage& stage);

// Of arguments that lie in the caller's array, though only a part is computed at once: their
// elements have the array's places.
void index_whole_arrays(const Lowering& lowering, schedule::Bounds& bounds);

// Copies what of the stage is computed at once from its own buffers to the parameters `to`, one for
// each output, where they are not null:
//   for i < 4 { if (tile*4 + i < 10) { B_param[tile*4 + i] = B[i] } }
// It stands behind the stage's loops. Of several threads that compute an element one stores it
// (element_owner.h); what no reader asks for is not stored. Fails with BadArguments where it is not
// known which thread is to store an element.
ir::Stmt copies_to_arguments(const schedule::Schedule& schedule, const schedule::Bounds& bounds,
                             schedule::StageId id, const std::vector<ir::Buffer>& from,
                             const std::vector<ir::Buffer>& to);

}  // namespace texloom::lower
