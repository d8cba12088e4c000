// Builds the kernels of one root stage and the launch plan around them.
#pragma once

#include "lower/build/stage_buffers.h"
#include "lower/lowering.h"

namespace texloom::lower {

// `loops` are the loops of the stage with all attached stages; `parts` are the buffers for partial
// results of reductions, which each kernel that uses them allocates. If a statement in the loops
// has no threads, all loops become one kernel, whose first thread runs the statement. A stage of
// rank 0 that binds nothing gets one thread, because it has no axis that could be bound. Fails with
// ScopeTooWide or TextureInsideReader if a kernel would allocate memory that all kernels see.
ir::Stmt stage_kernels(const schedule::Schedule& schedule, const StageBuffers& buffers,
                       schedule::StageId root, const ir::Stmt& loops,
                       const std::vector<ir::Buffer>& parts);

// Makes a single kernel, whatever the loops are.
ir::Stmt one_kernel(const schedule::Schedule& schedule, const StageBuffers& buffers,
                    schedule::StageId root, const ir::Stmt& loops,
                    const std::vector<ir::Buffer>& parts);

// Whether the loops allocate memory that all kernels see, which a kernel cannot do.
bool allocates_global_memory(const ir::Stmt& loops);

// Whether the loop over the variable is inside a kernel, not in the launch plan.
bool is_kernel_loop(const ir::Stmt& plan, const ir::Expr& var);

}  // namespace texloom::lower
