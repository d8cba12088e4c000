// From a schedule to kernels: the one list of passes.
#pragma once

#include "lower/pass.h"

namespace texloom::lower {

// In the order they run.
std::span<const Pass> pipeline();

// Runs the first pass alone, on a schedule whose arguments need not be known.
void prepare_schedule(Lowering& lowering);

// Runs the pipeline. Where a nest is bound to no thread it stops before split_kernels, at
// ProgramStage::Flattened: such loops can be read, and make_kernels refuses them.
Lowering lower_as_far_as_bound(Lowering lowering, PassObserver observer);

// Runs the rest of the pipeline. Fails with UnboundStage where lower_as_far_as_bound stopped.
Lowering make_kernels(Lowering loops, PassObserver observer);

// Runs the pipeline. The result holds the program, at ProgramStage::Kernels, and the warnings.
Lowering lower(Lowering lowering, PassObserver observer);
Lowering lower(Lowering lowering);

}  // namespace texloom::lower
