// The rules about types and lanes of single nodes, and about declared buffers, for
// ir/verify/verify.h. A violation is returned as a text, in lower case without a final stop; the
// text is empty without a violation. Operands of nodes must not be null.
#pragma once

#include <string>

#include "ir/buffer.h"
#include "ir/program.h"
#include "ir/stmt.h"

namespace texloom::ir {

// The form of the accesses at a stage.
struct AccessForm {
  bool logical = false;  // one index for each axis, not one offset
  bool widened = false;  // values may be wider than the elements of their buffer
};

std::string type_problem(const Expr& e, AccessForm form);
std::string type_problem(const Stmt& s, AccessForm form);
std::string buffer_problem(const BufferNode& buffer);
// A call of a symbol of the program agrees with its declaration.
std::string signature_problem(const ForeignCall& call, const Program& program);

// int32 or int64, scalar.
bool is_scalar_index(const Expr& e);
bool is_index_variable(const Expr& e);

}  // namespace texloom::ir
