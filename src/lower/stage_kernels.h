// The kernels of one root stage, and what the launch plan does around them.
#pragma once

#include "lower/lowering.h"
#include "lower/stage_buffers.h"

namespace texloom::lower {

// `loops` are those of the stage with all that is attached to them; `parts` the memory in which
// threads put their parts of reductions: each kernel allocates what it uses of it. Where
// something in the loops has no threads all of them are one kernel, in which the first thread does
// it. Fails with ScopeTooWide or TextureInsideReader where a kernel would allocate memory that all
// kernels see.
ir::Stmt stage_kernels(const schedule::Schedule& schedule, const StageBuffers& buffers,
                       schedule::StageId root, const ir::Stmt& loops,
                       const std::vector<ir::Buffer>& parts);

// The same in one kernel, whatever the loops are.
ir::Stmt one_kernel(const schedule::Schedule& schedule, const StageBuffers& buffers,
                    schedule::StageId root, const ir::Stmt& loops,
                    const std::vector<ir::Buffer>& parts);

// Whether something in the loops is computed into memory that all kernels see, of which no kernel
// can have any of its own.
bool allocates_global_memory(const ir::Stmt& loops);

// Whether the loop over the variable is one of a kernel, not of the launch plan.
bool is_kernel_loop(const ir::Stmt& plan, const ir::Expr& var);

}  // namespace texloom::lower
