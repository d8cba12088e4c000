// Which values all threads of a block agree on.
#pragma once

#include <unordered_set>

#include "ir/program.h"

namespace texloom::ir {

// Threads agree on what is computed from what they agree on: constants, symbols, indices of blocks,
// memory that they have in common, variables of loops of as many iterations for each. Of memory of
// its own a thread has what it stored: the same as the others where all of them, under nothing
// that they differ on, store in the same places what they agree on; so a counter that each keeps
// for itself is the same number for all.
class UniformValues {
 public:
  using Variables = std::unordered_set<const ExprNode*>;

  explicit UniformValues(const Kernel& kernel);
  explicit UniformValues(const Nest& nest);

  // Whether the threads may have different values of it, where they come to it together.
  bool varies(const Expr& e) const;
  // Whether they may differ on what is in memory of their own.
  bool varies(const Buffer& buffer) const { return buffers_.contains(buffer.get()); }
  // Variables that may vary.
  const Variables& varying() const { return variables_; }

 private:
  void follow(const Stmt& body);
  // `divergent`: whether some threads may come to the statement without the others, or more often.
  void visit(const Stmt& s, bool divergent);
  void add(const Expr& var);

  Variables variables_;
  std::unordered_set<const BufferNode*> buffers_;  // of each thread's own, with values that vary
  bool changed_ = false;
};

}  // namespace texloom::ir
