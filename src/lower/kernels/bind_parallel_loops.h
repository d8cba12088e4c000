// Runs parallel loops on the threads of a processor.
#pragma once

#include "lower/lowering.h"

namespace texloom::lower {

// Purpose: makes the outermost parallel loops of each nest its grid, where the target is a
//   processor: up to three loops, one directly inside the other, become blockIdx.x (the innermost
//   of them), y and z. Each block has one thread, the form that a processor runs best. Parallel
//   loops inside other loops become serial, since the grid keeps all threads of the machine busy.
//   All parallel loops of a nest that binds threads itself become serial, too. A nest that neither
//   binds threads nor begins with a parallel loop becomes one block on the target llvm, as scripts
//   for processors expect; a driver of OpenCL has no such kernels, and launch_nests refuses it.
// Requires: stage flattened.
// Ensures: stage flattened, no parallel loops. Fails with UnboundStage for a parallel loop if the
//   target is a GPU, whose loops run in parallel if they are bound to threads.
// Order: before launch_nests, which makes grids of loops over threads; after simplify_program,
//   which drops loops and guards without effect between parallel loops.
// Example:
//   nest Y {                              nest Y {
//     parallel i < 8 {                      thread<blockIdx.x> i < 8 {
//       for k < 3 {               ->          for k < 3 {
//         parallel j < 4 {                      for j < 4 {
void bind_parallel_loops(Lowering& lowering);

}  // namespace texloom::lower
