// Externs: operations whose result is written by a statement.
#pragma once

#include "schedule/operation.h"

namespace texloom::schedule {

// What te.extern makes. The statement is one of stage loops without nests. It reads and writes
// these buffers, which are row-major, in global memory, and those that it allocates. It may begin
// with thread axes; what stands in front of them, or behind, runs in kernels of its own
// (schedule/kernel_nests.h).
//
// Fails with BadExtern where an input's buffer is not one of its tensor's shape and type, where
// the statement writes an input, or where it breaks a rule of programs (ir/verify.h).
Op make_extern(std::string name, std::string tag, std::vector<ExternInput> inputs,
               std::vector<ir::Buffer> outputs, ir::Stmt statement, SourceLocation location,
               Ref<RefCounted> attributes = {});

// The extern with other tensors for its inputs, of the same shapes and types.
Op with_inputs(const Operation& op, std::vector<ir::Tensor> tensors);

// The nests of the statement on these buffers, one for each of the extern's own. Memory that
// several of them share is allocated around them.
ir::Stmt nests_of(const Operation& op, const std::vector<ir::Buffer>& reads,
                  const std::vector<ir::Buffer>& writes);

}  // namespace texloom::schedule
