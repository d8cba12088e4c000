// The statements of externs and tensor intrinsics, in which buffers represent tensors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/program.h"
#include "support/function_ref.h"

namespace texloom::schedule {

struct StatementProblem {
  SourceLocation location;  // unknown if the problem concerns the whole statement
  std::string help, text;
};

// The first problem of the program's statement. The statement may not write `inputs`, which are
// parameters, nor allocate textures, nor global memory inside a nest, and it has to keep the rules
// of programs (ir/verify/verify.h).
std::optional<StatementProblem> find_problem(const ir::Program& program,
                                             const std::vector<ir::Buffer>& inputs);

// The extents, which are constants or expressions of symbols.
ir::Exprs shape_of(const ir::BufferNode& buffer);

// A problem of a buffer that represents a tensor: it has to be row-major and in global memory,
// since the tensor's own stage decides its storage.
std::optional<StatementProblem> find_problem(const ir::Buffer& buffer);
// The first problem of a buffer that represents this tensor. The buffer must have the tensor's type
// and shape. Fails with BadShape, at `where`, if an extent of the tensor is not positive.
std::optional<StatementProblem> find_problem(const ir::Buffer& buffer, const ir::Tensor& tensor,
                                             const SourceLocation& where);

// An element of another buffer.
struct ElementPlace {
  ir::Buffer buffer;
  ir::Exprs indices;
};
// The statement with other places for the elements that it loads, stores and points to. Fails with
// BadForeignCall if a pointer would point into a buffer that is not a row-major array.
ir::Stmt with_places(const ir::Stmt& statement,
                     FunctionRef<ElementPlace(const ir::Buffer&, const ir::Exprs&)> place);

}  // namespace texloom::schedule
