// Finds the values on which all threads of a block agree.
#pragma once

#include <unordered_set>

#include "ir/program.h"

namespace texloom::ir {

// Threads agree on constants, symbols, block indices, memory that they share, variables of loops
// with equal extents, and on values computed from these. Threads agree on a private buffer if all
// of them store equal values to the same elements, under conditions on which they agree. So a
// counter in a private buffer can be uniform.
class UniformValues {
 public:
  using Variables = std::unordered_set<const ExprNode*>;

  explicit UniformValues(const Kernel& kernel);
  explicit UniformValues(const Nest& nest);
  // The same for the threads along threadIdx.x, which agree on the other indices of threads.
  static UniformValues of_lanes(const Kernel& kernel);

  // Whether threads that evaluate the expression together may get different values.
  bool varies(const Expr& e) const;
  // Whether the contents of a private buffer may differ between threads.
  bool varies(const Buffer& buffer) const { return buffers_.contains(buffer.get()); }
  // Variables that may vary.
  const Variables& varying() const { return variables_; }

 private:
  UniformValues() = default;
  void follow(const Stmt& body);
  // `divergent`: whether threads of a block may reach the statement different numbers of times.
  void visit(const Stmt& s, bool divergent);
  void add(const Expr& var);

  Variables variables_;
  std::unordered_set<const BufferNode*> buffers_;  // private buffers whose contents vary
  bool changed_ = false;
};

}  // namespace texloom::ir
