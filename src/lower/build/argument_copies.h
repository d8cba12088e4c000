// Copies tensors that are computed inside their readers to the caller's arrays.
#pragma once

#include <vector>

#include "ir/stmt.h"
#include "lower/lowering.h"
#include "schedule/bounds/bounds.h"

namespace texloom::lower {

// Whether a stage that is an argument is computed directly in the caller's array: it is at the
// root, and in memory that all kernels see. Otherwise each block or thread copies its part to the
// array.
bool lies_in_array(const schedule::Schedule& schedule, const schedule::Stage& stage);

// Extends the buffer region of arguments in the caller's array to the whole array, even if only a
// part is computed at a time.
void index_whole_arrays(const Lowering& lowering, schedule::Bounds& bounds);

// Copies each computed part of the stage from the stage's own buffers to the parameters `to`, one
// for each output; null parameters are skipped:
//   for i < 4 { if (tile*4 + i < 10) { B_param[tile*4 + i] = B[i] } }
// The copy follows the stage's loops. If several threads compute an element, one of them stores it
// (store_once.h); an element that no reader needs is not stored. Fails with BadArguments if it is
// not known which thread should store an element.
ir::Stmt copies_to_arguments(const schedule::Schedule& schedule, const schedule::Bounds& bounds,
                             schedule::StageId id, const std::vector<ir::Buffer>& from,
                             const std::vector<ir::Buffer>& to);

}  // namespace texloom::lower
