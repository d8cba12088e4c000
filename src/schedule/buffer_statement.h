// Statements over buffers that stand for tensors: those of externs and of tensor intrinsics.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/program.h"
#include "support/function_ref.h"

namespace texloom::schedule {

struct StatementProblem {
  SourceLocation location;  // not known where it is about the whole
  std::string help, text;
};

// The first rule that the program's statement breaks; `inputs` are those of its parameters that it
// is not to write. It allocates buffers only, in global memory none inside a nest; for the rest it
// keeps to the rules of programs (ir/verify.h).
std::optional<StatementProblem> find_problem(const ir::Program& program,
                                             const std::vector<ir::Buffer>& inputs);

// Its extents, constants or expressions of symbols.
ir::Exprs shape_of(const ir::BufferNode& buffer);

// What is wrong with the buffer by which a statement knows a tensor: where the tensor lies, its own
// stage says, so that the buffer is row-major in global memory.
std::optional<StatementProblem> find_problem(const ir::Buffer& buffer);
// The same, or another type or shape than the tensor's. Fails with BadShape, at `where`, if that is
// none of positive extents.
std::optional<StatementProblem> find_problem(const ir::Buffer& buffer, const ir::Tensor& tensor,
                                             const SourceLocation& where);

// An element of another buffer.
struct ElementPlace {
  ir::Buffer buffer;
  ir::Exprs indices;
};
// The statement with other places for what it loads and stores, and points to. Fails with
// BadForeignCall where a pointer would point into what is no row-major array.
ir::Stmt with_places(const ir::Stmt& statement,
                     FunctionRef<ElementPlace(const ir::Buffer&, const ir::Exprs&)> place);

}  // namespace texloom::schedule
