// Externs: operations whose results a statement writes.
#pragma once

#include "schedule/operation/operation.h"

namespace texloom::schedule {

// The operation of te.extern. The statement is of stage loops, without nests. The statement
// accesses the buffers of the inputs and outputs, which are row-major and in global memory, and the
// buffers that it allocates. The statement may begin with thread axes; parts before and after
// thread axes run in separate kernels (schedule/operation/kernel_nests.h).
//
// Fails with BadExtern if an input's buffer differs from its tensor in shape or type, if the
// statement writes an input, or if it breaks a rule of programs (ir/verify/verify.h).
Op make_extern(std::string name, std::string tag, std::vector<ExternInput> inputs,
               std::vector<ir::Buffer> outputs, ir::Stmt statement, SourceLocation location,
               Ref<OperationAttributes> attributes = {});

// The extern with other input tensors, of the same shapes and types.
Op with_inputs(const Operation& op, std::vector<ir::Tensor> tensors);

// The extern with other input tensors, of the same shapes, and with outputs of these types.
// Elements are converted when they are loaded, and before they are stored. Null if the statement
// does more with a buffer whose type changes than to load elements of an input, or to store those
// of an output.
Op with_types(const Operation& op, const std::vector<ir::Tensor>& tensors,
              const std::vector<ir::Type>& outputs);

// The nests of the statement, with these buffers in place of the extern's own. Memory that several
// nests share is allocated around them.
ir::Stmt nests_of(const Operation& op, const std::vector<ir::Buffer>& reads,
                  const std::vector<ir::Buffer>& writes);

}  // namespace texloom::schedule
