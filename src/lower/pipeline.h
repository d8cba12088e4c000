// Lowers a schedule to kernels: the one list of passes.
#pragma once

#include "lower/pass.h"

namespace texloom::lower {

// The passes, in the order in which they run.
std::span<const Pass> pipeline();

// Runs only the first pass, on a schedule whose arguments need not be known.
void prepare_schedule(Lowering& lowering);

// Runs the pipeline. If a nest is not bound to threads, stops before split_kernels, at
// ProgramStage::Flattened: users can read such loops, but make_kernels refuses them.
Lowering lower_as_far_as_bound(Lowering lowering, PassObserver observer);

// Runs the passes from split_kernels on. Fails with UnboundStage if a nest is not bound to threads.
Lowering make_kernels(Lowering loops, PassObserver observer);

// Runs the pipeline. The result contains the program, at ProgramStage::Kernels, and the warnings.
Lowering lower(Lowering lowering, PassObserver observer);
Lowering lower(Lowering lowering);

}  // namespace texloom::lower
