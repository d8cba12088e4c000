#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Turns the schedule into a program of loops.
//
// Does: infers bounds; gives each stage a buffer or texture of its region, folding a texture
// that exceeds the target's limits; emits the loops of each root stage, attached stages at
// the start of the loop they are attached to, an initialisation nest before the first reduction
// loop, and a guard around each store that not all points of the loops may reach; puts in the
// statements of externs as they stand; says where kernels begin: loops outside of all threads are
// the launch plan's.
//
// Stands where the schedule ends and statements begin.
//
// Before: a checked schedule. After: stage Loops: N-d loads and stores, thread axes as loops.
//
//   X.texture = cache_read(X, "texture", [Y])          texture2d.alloca X.texture: ...
//   Y(i, j, k) = X.texture(i, j, k) + 1          ->    thread<blockIdx.x> ax0 < 32 { ...
//                                                      thread<blockIdx.x> i.outer < 8 { ...
void build_loops(Lowering& lowering);

}  // namespace texloom::lower
