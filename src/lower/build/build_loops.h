#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: turns a schedule into a program of loops.
//   Infers bounds; refuses reads outside of tensors at points that are computed; gives each stage a
//   buffer or a texture for its region; builds the loops of each root stage, with attached stages
//   at the start of the loop they are attached to, an initialization before the first reduction
//   loop, and a guard around each store that some points of the loops must not make; copies the
//   statements of externs; marks where kernels begin. Loops outside all thread loops belong to the
//   launch plan.
// Requires: stage te, checked by check_schedule.
// Ensures: stage loops: N-d loads and stores, thread axes as loops. Fails with the codes of the
//   parts below.
// Order: after check_schedule; here the schedule ends and statements begin.
// This is one row of the table of passes although it has many parts, because none of the parts maps
// a program to a program. Each part works on one stage, with the bounds and the buffers of all
// stages, which the text form cannot express: stage_buffers.h, leaf_loops.h, argument_copies.h,
// auto_unroll.h, scan_barriers.h, store_predicate.h, thread_reduction.h, tensorize.h,
// stage_kernels.h, foreign_code.h.
// Example:
//   compute X.texture(i < 32, j < 8): ...            texture2d.alloca X.texture: ...
//     scope texture                                  nest X.texture {
//   compute Y(i < 32, j < 8): ...              ->      thread<blockIdx.x> i < 32 { ...
//     output                                         nest Y {
//                                                      thread<blockIdx.x> i.outer < 8 { ...
void build_nests(Lowering& lowering);

}  // namespace texloom::lower
